"""`ragx status`: what the index holds and how far the files have moved on since; reads only."""

import sys
from typing import Annotated

import typer

from ragx.cli.common import Directory, Json, Quiet, emit_json, here, open_corpus, talk


def status(
    json: Json = False,
    pending: Annotated[
        bool, typer.Option("--pending", help="Name the files that are new, changed or deleted since.")
    ] = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Show what the index holds, and what has changed since."""
    corpus = open_corpus(directory)

    from ragx import diagnosis
    from ragx.render import documents, summary, terminal

    found = diagnosis.status(corpus.root, corpus.config)
    for warning in found.warnings:
        talk(f"warning: {warning}")
    if json:
        emit_json(documents.status_document(found, pending=pending))
    else:
        print(summary.status_text(found, terminal.view(sys.stdout, corpus.root, here(directory)), pending=pending))


def register(app: typer.Typer) -> None:
    """Adds `status` to the command line."""
    app.command("status")(status)
