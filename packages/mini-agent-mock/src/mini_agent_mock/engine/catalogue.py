"""`GET /v1/models` and `GET /v1/models/{id}`: the known models, and the scenario's own."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mini_agent_mock.endpoints.paging import page_of
from mini_agent_mock.errors import ApiError, invalid_request
from mini_agent_mock.models import Model, all_models, lookup

if TYPE_CHECKING:
    from collections.abc import Mapping


@lru_cache(maxsize=64)
def extra_models(ids: tuple[str, ...]) -> Mapping[str, Model]:
    """Models that exist because the scenario says so; they accept what the newest kind does."""
    return {name: Model(name, name, "custom", "2026-01-01") for name in ids}


def one_model(wanted: str, extra: tuple[str, ...], *, lenient: bool) -> dict[str, Any]:
    """`ModelInfo` of one model. Raises `ApiError` 404 for an unknown id."""
    model = lookup(wanted) or extra_models(extra).get(wanted)
    if model is None and lenient:
        model = Model(wanted, wanted, "custom", "2026-01-01")
    if model is None:
        raise ApiError(404, "not_found_error", f"model: {wanted}")
    return model.info()


def list_models(
    parameters: Mapping[str, list[str]], extra: tuple[str, ...], *, lenient: bool = False
) -> dict[str, Any]:
    """One page, newest first. Raises `ApiError` 400 for a page that cannot be, unless lenient."""
    models = [model.info() for model in (*extra_models(extra).values(), *all_models())]
    ids = {model["id"] for model in models}
    for name in ("after_id", "before_id"):
        wanted = parameters.get(name, [""])[-1]
        if wanted and wanted not in ids and not lenient:
            raise invalid_request(f"{name}: unknown model {wanted!r}")
    return page_of(models, parameters)
