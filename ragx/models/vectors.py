"""Vectors out of a server's answer, each one proven: right count, order and dimension, finite, with a direction."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragx.parsing import from_json


class Refused(ValueError):
    """What is wrong with an answer, in words that follow the server's name."""


def unit(vector: NDArray[np.float64]) -> NDArray[np.float32]:
    """The vector at length 1; NaN where it has no direction."""
    # By a power of two, which changes no digit, so that no square overflows or vanishes.
    vector = np.ldexp(vector, -math.frexp(float(np.abs(vector).max(initial=0)))[1])
    # fsum rounds once, so no vector unit's order of addition shows in the last bit.
    length = math.sqrt(math.fsum(np.square(vector).tolist()))
    return np.asarray(vector / length if 0 < length < math.inf else vector * math.nan, np.float32)


def vectors_in(answer: Any, count: int, dimension: int | None) -> list[NDArray[np.float32]]:
    """`count` unit vectors, in the order in which their texts were sent; Refused for anything else.

    `dimension` is what each must have; None: what the first one has.
    """
    entries = _in_order(answer, count)
    found = []
    for entry in entries:
        values = entry.get("embedding")
        if not isinstance(values, list) or not values:
            raise Refused("sent an entry without a vector")
        # A bool, a null or a number in quotes would pass as a number in numpy.
        if not all(type(value) in (float, int) for value in values):
            raise Refused("sent a vector with something else than numbers in it")
        dimension = len(values) if dimension is None else dimension
        if len(values) != dimension:
            raise Refused(f"sent a vector of {len(values)} dimensions instead of {dimension}")
        found.append(_direction(values))
    return found


def same_direction(one: NDArray[np.float32], other: NDArray[np.float32], least: float) -> bool:
    """Whether two unit vectors have the same dimension, and a cosine of at least `least`."""
    return one.shape == other.shape and float(np.dot(one.astype(np.float64), other.astype(np.float64))) >= least


def _in_order(answer: Any, count: int) -> list[dict[str, Any]]:
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Refused("sent no list of vectors")
    if len(entries) != count:
        raise Refused(f"sent {len(entries)} vectors for {count} texts")
    places = [entry.get("index") for entry in entries]
    if all(place is None for place in places):
        return entries
    if not all(type(place) is int for place in places) or sorted(places) != list(range(count)):
        raise Refused("sent vectors without saying which text each belongs to")
    return sorted(entries, key=lambda entry: int(entry["index"]))


def _direction(values: list[float]) -> NDArray[np.float32]:
    try:
        vector = np.array(values, np.float64)
    except OverflowError:  # an integer of hundreds of digits
        raise Refused("sent a vector with a number that is too large") from None
    if not np.isfinite(vector).all():
        raise Refused("sent a vector with a number that is not finite")
    result = unit(vector)
    if not np.isfinite(result).all():
        raise Refused("sent a vector of zeros")
    return result


def parse(content: bytes) -> Any:
    """The JSON value of an answer; Refused where it is none."""
    try:
        return from_json(content)
    except ValueError:
        start = content[:60].decode("utf-8", "replace")
        raise Refused(f"sent no JSON but {start!r}" if start.strip() else "sent an empty answer") from None
