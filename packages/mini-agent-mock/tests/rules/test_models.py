import re

from mini_agent_mock.models import Model, all_models, lookup


def test_an_alias_means_its_dated_model() -> None:
    model = lookup("claude-sonnet-4-5")

    assert model is not None
    assert model.id == "claude-sonnet-4-5-20250929"
    assert lookup(model.id) is model
    assert lookup("claude-nope") is None


def test_models_are_listed_newest_first_and_once() -> None:
    created = [model.created for model in all_models()]

    assert created == sorted(created, reverse=True)
    assert len({model.id for model in all_models()}) == len(created)


def test_the_description_has_every_field_of_the_sdk() -> None:
    model = lookup("claude-opus-4-5")
    assert model is not None

    info = model.info()

    assert info["type"] == "model"
    assert info["lifecycle"] == "deprecated"
    assert info["deprecated_at"] == "2026-11-23T00:00:00Z"
    assert info["retires_at"] == "2027-01-22T00:00:00Z"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00Z", info["created_at"])
    assert info["capabilities"]["thinking"]["types"]["adaptive"] == {"supported": False}
    assert info["capabilities"]["effort"]["max"] == {"supported": False}


def test_every_model_fits_the_sdks_own_strict_model() -> None:
    from anthropic.types import ModelInfo

    own = Model("house-1", "House 1", "house", "2026-01-01")
    for model in (own, *all_models()):
        ModelInfo.model_validate(model.info(), strict=False)


def test_the_table_knows_every_id_that_the_sdk_names() -> None:
    from typing import get_args

    from anthropic.types.model_param import ModelParam

    named = [name for option in get_args(ModelParam) for name in get_args(option)]
    assert named
    assert [name for name in named if lookup(name) is None] == []
