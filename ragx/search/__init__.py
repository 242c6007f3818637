"""Answers queries from a published index."""

from ragx.search.searcher import Options, Searcher

__all__ = ["Options", "Searcher"]
