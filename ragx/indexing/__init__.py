"""Keeps the index equal to what a full build of the tree would give."""

from ragx.indexing.run import Options, index

__all__ = ["Options", "index"]
