"""What a run finds published before it begins, and builds on."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragx.config import Config, settings_with_effect
from ragx.errors import IndexMissing
from ragx.graph import TextGraph, read_text_graph
from ragx.indexing.plan import KnownFile, known_files
from ragx.store import is_complete, is_outdated, open_index, statements

_INDEX = statements("index")
_GRAPH = statements("graph")


@dataclass(frozen=True)
class Published:
    """What the published index says before the run: nothing where there is none, or a full build is to replace it."""

    meta: dict[str, Any] = field(default_factory=dict)
    files: dict[str, KnownFile] = field(default_factory=dict)
    graph: TextGraph = field(default_factory=TextGraph.empty)
    chunks: int = 0
    untitled: int = 0
    """Communities of which no chat model has said anything."""
    outdated: bool = False
    """An earlier version wrote it: its vectors are taken over, and nothing else."""
    complete: bool = True
    """Else its first run has not come to its end: it lacks vectors and graph."""


def read_published(folder: Path, config: Config) -> Published:
    """The published index of a `.ragx` folder, if there is one.

    One without vectors is none to a run with other settings: nothing in it was paid for.
    """
    try:
        store = open_index(folder, outdated=True)
    except IndexMissing:
        return Published()
    with store:
        if is_outdated(store):
            return Published(outdated=True)
        meta, complete = store.meta(), is_complete(store)
        if not complete and meta["full_settings"] != settings_with_effect(config, "full"):
            return Published()
        chunks = store.value(_INDEX.count_chunks)
        untitled = store.value(_GRAPH.count_untitled)
        return Published(meta, known_files(store), read_text_graph(store), chunks, untitled, complete=complete)
