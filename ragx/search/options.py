"""What a query may leave out or ask for, beside its settings."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Stages of a query to leave out, and what to return. `None` leaves a choice to the settings."""

    top: int | None = None
    graph: bool = True
    rerank: bool | None = None
    vector: bool = True
    lexical: bool = True
    expand: bool | None = None
    deep: bool = False
    hops: int | None = None
    hnsw: bool | None = None
    explain: bool = False
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None
    fold: bool | None = None
