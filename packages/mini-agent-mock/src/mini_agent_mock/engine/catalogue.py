"""`GET /v1/models` and `GET /v1/models/{id}`: the known models, and the scenario's own."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mini_agent_mock.errors import ApiError, invalid_request
from mini_agent_mock.models import Model, all_models, lookup

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_PAGE = 20
_LARGEST_PAGE = 1000


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


def list_models(parameters: Mapping[str, list[str]], extra: tuple[str, ...]) -> dict[str, Any]:
    """One page, newest first. `limit`, `after_id` and `before_id` as the service takes them."""
    models = [*extra_models(extra).values(), *all_models()]
    ids = [model.id for model in models]
    limit = _limit(parameters.get("limit", [str(_DEFAULT_PAGE)])[-1])
    after, before = (parameters.get(name, [""])[-1] for name in ("after_id", "before_id"))
    start, stop = 0, len(models)
    if after:
        start = _position(after, ids, "after_id") + 1
    if before:
        stop = _position(before, ids, "before_id")
        start = max(start, stop - limit)
    page = models[start : min(stop, start + limit)]
    more = start > 0 if before and not after else start + len(page) < stop
    return {
        "data": [model.info() for model in page],
        "has_more": more,
        "first_id": page[0].id if page else None,
        "last_id": page[-1].id if page else None,
    }


def _limit(text: str) -> int:
    if not text.lstrip("-").isdecimal() or len(text) > 9:
        raise invalid_request(
            "limit: Input should be a valid integer, unable to parse string as an integer"
        )
    if int(text) < 1:
        raise invalid_request("limit: Input should be greater than or equal to 1")
    if int(text) > _LARGEST_PAGE:
        raise invalid_request("limit: Input should be less than or equal to 1000")
    return int(text)


def _position(wanted: str, ids: list[str], name: str) -> int:
    if wanted not in ids:
        raise invalid_request(f"{name}: unknown model {wanted!r}")
    return ids.index(wanted)
