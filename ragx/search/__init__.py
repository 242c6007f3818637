"""Answers queries from a published index."""

from ragx.search.options import Options
from ragx.search.searcher import Searcher

__all__ = ["Options", "Searcher"]
