"""`ragx eval`: how well the index answers queries whose relevant files are known, by configuration."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ragx.cli.common import Directory, Json, Queries, Quiet, emit_json, here, is_quiet, open_corpus, warn_unindexed


def evaluate(
    file: Queries,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            metavar="NAME",
            show_default=False,
            help="Only this configuration: lexical, baseline, hybrid, graph, deep, rerank or full. May be repeated.",
        ),
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Show each query; the JSON always does.")] = False,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="OLD.json", help="Show the differences to what --json wrote before."),
    ] = None,
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Measure the answers to queries whose relevant files are known."""
    corpus = open_corpus(directory)

    from ragx import evaluation
    from ragx.render import terminal
    from ragx.render.evaluation import eval_document, eval_text
    from ragx.render.progress import watch
    from ragx.store import open_index

    queries = evaluation.read_queries(file)
    old = evaluation.read_outcomes(compare) if compare else None
    with open_index(corpus.index_dir) as store, watch(quiet=is_quiet()) as progress:
        found = evaluation.evaluate(store, corpus.config, queries, config or (), progress, root=corpus.root)
    comparison = None if old is None else evaluation.compare(old, found.scored())
    if json:
        warn_unindexed(len(found.unindexed))
        emit_json(eval_document(found, comparison))
    else:
        view = terminal.view(sys.stdout, corpus.root, here(directory))
        print(eval_text(found, comparison, view, per_query=per_query))


def register(app: typer.Typer) -> None:
    """Adds `eval` to the command line."""
    app.command("eval")(evaluate)
