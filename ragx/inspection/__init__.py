"""Looks into a published index without any model: chunks, files, links, neighbors, communities, paths, likeness."""

from ragx.inspection.chunks import (
    Edge,
    Entry,
    FileView,
    file_view,
    neighbors,
    one_entry,
)
from ragx.inspection.communities import Community, communities, community, members
from ragx.inspection.links import End, FileLinks, Link, file_links
from ragx.inspection.paths import GraphPath, strongest_path
from ragx.inspection.places import Spell, Target, find, one_chunk
from ragx.inspection.similar import Likeness, Pair, duplicates, similar, similar_files

__all__ = [
    "Community",
    "Edge",
    "End",
    "Entry",
    "FileLinks",
    "FileView",
    "GraphPath",
    "Likeness",
    "Link",
    "Pair",
    "Spell",
    "Target",
    "communities",
    "community",
    "duplicates",
    "file_links",
    "file_view",
    "find",
    "members",
    "neighbors",
    "one_chunk",
    "one_entry",
    "similar",
    "similar_files",
    "strongest_path",
]
