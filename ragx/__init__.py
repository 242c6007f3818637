"""ragx indexes a tree of files into one DuckDB file and answers questions from it."""

__version__ = "0.1.0"
