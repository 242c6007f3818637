"""Reading what nests too deep: a ValueError, and no collection of garbage next to the recursion limit."""

import gc
from collections.abc import Callable
from typing import Any

import pytest

from ragx.parsing import from_json, from_toml, unnested

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "read", [lambda: from_json(DEEP), lambda: from_json(DEEP.encode()), lambda: from_toml("a = " + DEEP)]
)
def test_what_nests_too_deep_is_a_value_error(read: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"^nested too deep$"):
        read()
    assert gc.isenabled()


def test_nothing_is_collected_while_a_parser_may_be_next_to_the_limit() -> None:
    assert unnested(gc.isenabled) is False
    assert gc.isenabled()
    gc.disable()
    try:
        assert from_json('{"a": [1]}') == {"a": [1]}
        assert not gc.isenabled()
    finally:
        gc.enable()
