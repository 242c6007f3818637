"""`ragx tune`: settings that answer queries better whose relevant files are known, where that is more than noise."""

from pathlib import Path
from typing import Annotated

import typer

from ragx.cli.common import Directory, Json, Quiet, emit_json, is_quiet, open_corpus, talk


def tune(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", show_default=False, help='JSON lines: {"query": TEXT, "relevant": [PATH or PATH:LINE, ...]}'
        ),
    ],
    metric: Annotated[
        str, typer.Option("--metric", metavar="NAME", help="What to maximise: ndcg@10, mrr@10 or recall@10.")
    ] = "ndcg@10",
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Search the settings of a query on queries whose relevant files are known."""
    corpus = open_corpus(directory)

    from ragx import evaluation
    from ragx.render.progress import watch
    from ragx.render.text import counted
    from ragx.render.tuning import tune_document, tune_text
    from ragx.store import open_index

    queries = evaluation.read_queries(file)
    with open_index(corpus.index_dir) as store, watch(quiet=is_quiet()) as progress:
        found = evaluation.tune(store, corpus.config, queries, metric, progress, root=corpus.root)
    if json:
        if found.unindexed:
            talk(f"warning: not in the index, and so not counted: {counted(len(found.unindexed), 'relevant item')}")
        emit_json(tune_document(found, corpus.sources))
    else:
        print(tune_text(found, corpus.sources))


def register(app: typer.Typer) -> None:
    """Adds `tune` to the command line."""
    app.command("tune")(tune)
