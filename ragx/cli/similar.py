"""`ragx similar`: what is like a file or a passage, and what stands in two places; from stored vectors, no model."""

from typing import Annotated, Any

import typer

from ragx.cli.common import Directory, Json, Quiet, emit_json, here, talk
from ragx.cli.inspect import opened, speller
from ragx.errors import UsageError

_DUPLICATE = 0.95
_LEAST = -1.0


def similar(
    place: Annotated[
        str | None, typer.Argument(metavar="[FILE[:LINE]]", help="A file, or the passage that holds this line of it.")
    ] = None,
    chunk: Annotated[str | None, typer.Option(metavar="ID", help="The passage with this chunk id.")] = None,
    duplicates: Annotated[
        bool,
        typer.Option("--duplicates", help="Pairs of passages in different places that are nearly or quite the same."),
    ] = False,
    least: Annotated[
        float | None,
        typer.Option("--min", metavar="COSINE", min=-1, max=1, help="Only from this cosine on.  [duplicates: 0.95]"),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=100_000, help="Results to print.  [default: query.top; pairs: all]"),
    ] = None,
    files_only: Annotated[bool, typer.Option("--files-only", help="Print files instead of passages.")] = False,
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Find what is like a file or a passage, or stands in two places."""
    if (place is not None) + (chunk is not None) + duplicates != 1:
        raise UsageError("name one of FILE[:LINE], --chunk ID and --duplicates", "ragx similar --help")
    if duplicates and files_only:
        raise UsageError("--files-only does not go with --duplicates", "ragx similar --help")
    if chunk is not None and not (chunk.isascii() and chunk.isdigit()):
        raise UsageError(f"--chunk takes an id, not {chunk}", "ragx similar --help")
    with opened(directory, complete=True) as (corpus, store, view):
        from ragx import inspection
        from ragx.render import inspected, inspection_documents

        document: dict[str, Any]
        if duplicates:
            pairs = inspection.duplicates(store, top, _DUPLICATE if least is None else least)
            document, text = inspection_documents.duplicates_document(pairs), inspected.duplicates_text(pairs, view)
        else:
            target = inspection.find(store, chunk or place or "", speller(corpus.root, here(directory)))
            limits = (corpus.config.query.top if top is None else top, _LEAST if least is None else least)
            if files_only:
                found = inspection.similar_files(store, target, *limits)
                document = inspection_documents.similar_files_document(target, found)
                text = inspected.similar_files_text(found, view)
            else:
                found = inspection.similar(store, target, *limits)
                document, text = (
                    inspection_documents.similar_document(target, found),
                    inspected.similar_text(found, view),
                )
    if json:
        emit_json(document)
    elif text:
        print(text)
    if not text:
        talk("nothing is that much alike" if least is not None or duplicates else "there is nothing else")
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Adds `similar` to the command line."""
    app.command("similar")(similar)
