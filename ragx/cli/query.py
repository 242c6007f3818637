"""`ragx query`: the chunks or files that answer a question, and exit code 1 where nothing does."""

import os
import shlex
import sys
from dataclasses import replace
from typing import Annotated

import typer

from ragx.cli.common import Directory, Json, Quiet, emit_json, here, open_corpus, talk

_LONGEST_ECHO = 60


def query(
    question: Annotated[str, typer.Argument(metavar="TEXT|-", help="The question; - reads it from stdin.")],
    json: Json = False,
    files_only: Annotated[bool, typer.Option("--files-only", help="Print files instead of chunks.")] = False,
    top: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=1000, help="Results to print.  [default: query.top]")
    ] = None,
    hops: Annotated[int | None, typer.Option(metavar="N", min=0, max=5, help="Steps of heat over the graph.")] = None,
    no_graph: Annotated[bool, typer.Option("--no-graph", help="Spread no heat over the graph.")] = False,
    rerank: Annotated[
        bool | None,
        typer.Option(
            "--rerank/--no-rerank", help="Let the cross-encoder read the best hits.  [default: rerank.enabled]"
        ),
    ] = None,
    no_lexical: Annotated[bool, typer.Option("--no-lexical", help="Leave out the keyword leg.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Print the nearest hits even if none is relevant.")] = False,
    expand: Annotated[
        bool | None,
        typer.Option(
            "--expand/--no-expand", help="Reformulate the question with one LLM call.  [default: expansion.enabled]"
        ),
    ] = None,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Find the chunks that answer a question."""
    asked = _asked(question)
    corpus = open_corpus(directory)

    from ragx.search import Options, Searcher
    from ragx.store import open_index

    options = Options(
        top=top,
        graph=not no_graph,
        rerank=rerank,
        lexical=not no_lexical,
        expand=expand,
        hops=hops,
        explain=explain,
    )
    with open_index(corpus.index_dir) as store:
        searcher = Searcher(store, corpus.config, talk)
        answer = searcher.search(asked, options)
        chunks = searcher.meta["last_run"]["chunks_total"]
    if not (answer.relevant or everything):
        answer = replace(answer, hits=(), files=())
    limit = corpus.config.query.top if top is None else top
    if json:
        from ragx.render.documents import files_document, query_document

        emit_json(files_document(answer, limit) if files_only else query_document(answer, corpus.config))
    elif answer.hits:
        from ragx.render import terminal, text

        view = terminal.view(sys.stdout, corpus.root, here(directory))
        print(text.files_text(answer, limit, view) if files_only else text.query_text(answer, view, explain=explain))
    if not answer.hits:
        talk(_nothing(asked, chunks, everything))
        raise typer.Exit(1)


def _asked(question: str) -> str:
    """What was asked, whatever bytes it came in."""
    data = sys.stdin.buffer.read() if question == "-" else os.fsencode(question)
    return data.decode("utf-8", "replace")


def _nothing(asked: str, chunks: int, everything: bool) -> str:
    if everything or not chunks:
        return f"nothing found in {chunks:,} chunks"
    echo = shlex.quote(asked.strip())
    if len(echo) > _LONGEST_ECHO or not echo.isprintable():
        echo = "..."
    elif echo.startswith("-"):
        echo = f"-- {echo}"
    return f"nothing relevant in {chunks:,} chunks; see the nearest with: ragx query --all {echo}"


def register(app: typer.Typer) -> None:
    """Adds `query` to the command line."""
    app.command("query")(query)
