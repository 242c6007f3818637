"""`ragx inspect`: chunks, files, links, neighbors, communities and paths of the index; no model and no server."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragx.cli.common import (
    Directory,
    Json,
    OpenCorpus,
    Quiet,
    emit_json,
    here,
    inside,
    open_corpus,
    show_help,
    talk,
    warn_incomplete,
)

if TYPE_CHECKING:
    from ragx.render.terminal import View
    from ragx.store import Store

commands = typer.Typer(help="Look at chunks, files, links, neighbors, communities and paths.", rich_markup_mode=None)

Place = Annotated[str, typer.Argument(metavar="ID|PATH:LINE", help="A chunk: its id, or a line that it holds.")]

File = Annotated[str, typer.Argument(metavar="PATH", help="A file of the corpus.")]


@commands.callback(invoke_without_command=True)
def inspect(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        show_help(context)


@commands.command("chunk")
def inspect_chunk(place: Place, json: Json = False, directory: Directory = None, quiet: Quiet = False) -> None:
    """Show a chunk: where it stands, its text and its edges."""
    with opened(directory) as (corpus, store, view):
        from ragx import inspection
        from ragx.render import inspected, inspection_documents

        chunk_id = inspection.one_chunk(store, place, speller(corpus.root, here(directory)))
        entry, edges = inspection.one_entry(store, chunk_id), inspection.neighbors(store, chunk_id)
        if json:
            emit_json(inspection_documents.chunk_document(entry, edges))
        else:
            print(inspected.chunk_text(entry, edges, view))


@commands.command("file")
def inspect_file(
    path: File,
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """List the chunks of a file."""
    with opened(directory) as (corpus, store, view):
        from ragx import inspection
        from ragx.render import inspected, inspection_documents

        found = inspection.file_view(store, path, speller(corpus.root, here(directory)))
        if json:
            emit_json(inspection_documents.file_document(found))
        else:
            print(inspected.file_text(found, view))


@commands.command("links")
def inspect_links(path: File, json: Json = False, directory: Directory = None, quiet: Quiet = False) -> None:
    """List the links in a file, where each leads, and the links of other files that lead to it."""
    with opened(directory) as (corpus, store, view):
        from ragx import inspection
        from ragx.render import inspected, inspection_documents

        found = inspection.file_links(store, path, speller(corpus.root, here(directory)))
        if json:
            emit_json(inspection_documents.links_document(found))
        elif found.links or found.backlinks:
            print(inspected.links_text(found, view))
    _empty_unless(found.links or found.backlinks, "no link leads from it or to it")


@commands.command("neighbors")
def inspect_neighbors(place: Place, json: Json = False, directory: Directory = None, quiet: Quiet = False) -> None:
    """List the chunks that a chunk has edges to, strongest first; -> it links to them, <- they link to it."""
    with opened(directory, complete=True) as (corpus, store, view):
        from ragx import inspection
        from ragx.render import inspected, inspection_documents

        chunk_id = inspection.one_chunk(store, place, speller(corpus.root, here(directory)))
        entry, edges = inspection.one_entry(store, chunk_id), inspection.neighbors(store, chunk_id)
        if json:
            emit_json(inspection_documents.neighbors_document(entry, edges))
        elif edges:
            print(inspected.neighbors_text(edges, view))
    _empty_unless(edges, "it has no neighbors")


@commands.command("communities")
def inspect_communities(json: Json = False, directory: Directory = None, quiet: Quiet = False) -> None:
    """List the communities of the graph: size, files with the most chunks, telling terms."""
    with opened(directory, complete=True) as (_, store, view):
        from ragx import inspection
        from ragx.render import inspected, inspection_documents

        found = inspection.communities(store)
        if json:
            emit_json(inspection_documents.communities_document(found))
        elif found:
            print(inspected.communities_text(found, view))
    _empty_unless(found, "there are no communities")


@commands.command("community")
def inspect_community(
    number: Annotated[int, typer.Argument(metavar="N", min=0, help="As `inspect communities` numbers them.")],
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """List the chunks of a community, those that hold it together most first."""
    with opened(directory, complete=True) as (_, store, view):
        from ragx import inspection
        from ragx.render import inspected, inspection_documents

        found = inspection.community(store, number)
        members = inspection.members(store, number)
        if json:
            emit_json(inspection_documents.community_document(found, members))
        else:
            print(inspected.community_text(found, members, view))


@commands.command("path")
def inspect_path(
    start: Annotated[str, typer.Argument(metavar="A", help="A chunk's id, PATH:LINE, or a file.")],
    end: Annotated[str, typer.Argument(metavar="B", help="Likewise.")],
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Show the strongest path over the graph between two chunks or files."""
    with opened(directory, complete=True) as (corpus, store, view):
        from ragx import inspection
        from ragx.render import inspected, inspection_documents

        spell = speller(corpus.root, here(directory))
        source, target = (inspection.find(store, given, spell) for given in (start, end))
        found = inspection.strongest_path(store, source.chunk_ids, target.chunk_ids)
        if json:
            emit_json(inspection_documents.path_document(source, target, found))
        elif found:
            print(inspected.path_text(found, view))
    _empty_unless(found, "no edges connect them")


@contextmanager
def opened(directory: Path | None, *, complete: bool = False) -> "Iterator[tuple[OpenCorpus, Store, View]]":
    """The corpus, its published index, and who reads stdout. An index that has no graph yet is an error where the
    command needs it `complete`, else a warning."""
    corpus = open_corpus(directory)

    from ragx.render.terminal import view
    from ragx.store import check_complete, open_index

    with open_index(corpus.index_dir) as store:
        if complete:
            check_complete(store)
        else:
            warn_incomplete(store)
        yield corpus, store, view(sys.stdout, corpus.root, here(directory))


def speller(root: Path, start: Path) -> Callable[[str], list[str]]:
    """How the index may spell a path that was typed in the folder `start`; it may be of a file that is gone."""

    def spell(given: str) -> list[str]:
        below = os.path.relpath(os.path.normpath(start / given), root).replace(os.sep, "/")
        return list(dict.fromkeys([inside(root, start, given), below]))

    return spell


def _empty_unless(found: Any, message: str) -> None:
    """Success, but with nothing to show."""
    if not found:
        talk(message)
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Adds the group `inspect` to the command line."""
    app.add_typer(commands, name="inspect")
