"""`ragx tune`: settings that answer queries better whose relevant files are known, where that is more than noise."""

from typing import Annotated

import typer

from ragx.cli.common import Directory, Json, Queries, Quiet, emit_json, is_quiet, open_corpus, warn_unindexed


def tune(
    file: Queries,
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
    from ragx.render.tuning import tune_document, tune_text
    from ragx.store import open_index

    queries = evaluation.read_queries(file)
    with open_index(corpus.index_dir) as store, watch(quiet=is_quiet()) as progress:
        session = evaluation.Session(store, corpus.config, progress.warn, root=corpus.root)
        found = evaluation.tune(session, corpus.config, queries, metric, progress)
    if json:
        warn_unindexed(len(found.unindexed))
        emit_json(tune_document(found, corpus.sources))
    else:
        print(tune_text(found, corpus.sources))


def register(app: typer.Typer) -> None:
    """Adds `tune` to the command line."""
    app.command("tune")(tune)
