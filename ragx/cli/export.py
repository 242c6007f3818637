"""`ragx export`: the index as Parquet files, for notebooks and other programs."""

from pathlib import Path
from typing import Annotated

import typer

from ragx.cli.common import Directory, Json, Quiet, emit_json, here, open_corpus, talk
from ragx.errors import UsageError


def export(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write, new or empty.")],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="Only files, chunks, embeddings, edges, links, communities or community_labels. Repeatable.",
        ),
    ] = None,
    no_text: Annotated[bool, typer.Option("--no-text", help="Leave out the text of the chunks.")] = False,
    no_embeddings: Annotated[bool, typer.Option("--no-embeddings", help="Leave out the vectors.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export.")] = False,
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Write the index as Parquet files with a manifest."""
    corpus = open_corpus(directory)

    from ragx.export import TABLES, export

    if unknown := [name for name in only or () if name not in TABLES]:
        raise UsageError(f"there is no table {unknown[0]} to export", f"choose from: {', '.join(TABLES)}")
    tables = [name for name in only or TABLES if not (no_embeddings and name == "embeddings")]
    if not tables:
        raise UsageError("--only embeddings and --no-embeddings leave nothing", "ragx export --help")
    folder = here(directory) / target
    manifest = export(corpus.index_dir, folder, tables=tables, text=not no_text, force=force, progress=_tell)
    written = manifest["tables"].values()
    if json:
        emit_json(manifest)
    else:
        from ragx.render.text import counted

        width = max(len(table["file"]) for table in written)
        for table in written:
            print(f"{table['file']:<{width}}  {counted(table['rows'], 'row'):>15}")
    if not any(table["rows"] for table in written):
        talk("the index is empty")
        raise typer.Exit(1)


def _tell(table: str) -> None:
    talk(f"exporting {table}")


def register(app: typer.Typer) -> None:
    """Adds `export` to the command line."""
    app.command("export")(export)
