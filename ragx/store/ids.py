"""Ids that stay the same over rebuilds and machines: 53-bit hashes, exact as a JSON number."""

from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest


def stable_id(*parts: str) -> int:
    """A hash of the parts and of where one ends and the next begins."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return xxh3_64_intdigest(joined.encode()) >> 11


def text_hash(text: str) -> str:
    """xxh3-128, hexadecimal."""
    return xxh3_128_hexdigest(text.encode())
