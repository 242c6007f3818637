"""JSON and TOML from outside: nested however deep, a ValueError is the worst that comes of it."""

import gc
import json
import tomllib
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError where it is none, or nests too deep to be read."""
    return unnested(lambda: json.loads(text))


def from_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text; TOMLDecodeError where it is malformed, ValueError where it nests too deep."""
    return unnested(lambda: tomllib.loads(text))


def unnested(parse: Callable[[], Value]) -> Value:
    """What a recursive parser returns; ValueError in place of its RecursionError.

    Parsers allocate as they descend, and a garbage collection next to the recursion limit leaves no frame to the
    finalizers of unrelated objects: they would fail, each with a traceback on stderr. So it waits.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return parse()
    except RecursionError:
        raise ValueError("nested too deep") from None
    finally:
        if collecting:
            gc.enable()
