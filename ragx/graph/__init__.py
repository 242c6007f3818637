"""The graph between chunks: similar edges, edges of links, communities and what they are about."""

from ragx.graph.communities import find_communities, label_communities
from ragx.graph.links import link_files
from ragx.graph.similar import (
    TextGraph,
    Texts,
    link_similar,
    random_pair_cosines,
    read_text_graph,
    read_texts,
    vector_matrix,
)
from ragx.graph.subchunks import link_subchunks

__all__ = [
    "TextGraph",
    "Texts",
    "find_communities",
    "label_communities",
    "link_files",
    "link_similar",
    "link_subchunks",
    "random_pair_cosines",
    "read_text_graph",
    "read_texts",
    "vector_matrix",
]
