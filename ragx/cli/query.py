"""`ragx query`: the chunks or files that answer a question, and exit code 1 where nothing does."""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragx.cli.common import Json, OpenCorpus, Quiet, emit_json, enter, here, inside, open_corpus, talk
from ragx.cli.index import bring_up_to_date
from ragx.errors import IndexMissing, RagxError, UsageError
from ragx.types import Answer, CommunityHit, Stage

if TYPE_CHECKING:
    from ragx.search.passages import Passage

_LONGEST_ECHO = 60
_MOST_LINES = 200
_LARGEST_BUDGET = 1_000_000
_MOST_CHUNKS = 1000
_NO_TOPIC = "what was found belongs to no topic, as nothing is linked to it; see it without --global"


def query(
    question: Annotated[
        str,
        typer.Argument(
            metavar="TEXT|-", help="The question; - reads it from stdin; -- goes before one that begins with a dash."
        ),
    ],
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
            "--expand/--no-expand",
            help="Search for other wordings by a chat model too.  [default: expansion.enabled]",
        ),
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Search a second time, with what the first hit says (see query.second).")
    ] = False,
    after_context: Annotated[
        int | None,
        typer.Option(
            "-A", "--after-context", metavar="N", min=0, max=_MOST_LINES, help="Lines of the file after each hit."
        ),
    ] = None,
    before_context: Annotated[
        int | None,
        typer.Option(
            "-B", "--before-context", metavar="N", min=0, max=_MOST_LINES, help="Lines of the file before each hit."
        ),
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=_MOST_LINES, help="Lines before and after.  [default: query.context_lines]"
        ),
    ] = None,
    around: Annotated[
        list[str] | None,
        typer.Option(
            "-C", metavar="N|DIR", help="A number: as --context. Anything else: run as if started in DIR (./3 is one)."
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH|GLOB", help="Only this file, this folder, or what this glob matches. Repeatable."),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only files of this kind: markdown, python ... Repeatable.")
    ] = None,
    hnsw: Annotated[
        bool | None,
        typer.Option("--hnsw/--exact", help="Search the vector index, or scan all vectors.  [default: the faster one]"),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS", min=1, max=_LARGEST_BUDGET, help="Print whole passages, up to so many tokens in all."
        ),
    ] = None,
    fold: Annotated[
        bool | None,
        typer.Option("--fold/--no-fold", help="Print what is nearly the same once.  [default: query.fold]"),
    ] = None,
    overview: Annotated[
        bool, typer.Option("--global", help="Print the topics that the question is about, each with its best chunks.")
    ] = False,
    written: Annotated[
        bool, typer.Option("--answer", help="With --global: let the chat model answer from them, with its sources.")
    ] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Bring the index up to date first.")] = False,
    quiet: Quiet = False,
) -> None:
    """Find the chunks that answer a question."""
    directory, lines = _folder_and_lines(around or ())
    lines = context if lines is None else lines
    if overview or budget is not None:
        form = "--global" if overview else "--budget"
        if files_only or explain or any((lines, before_context, after_context, overview and budget)):
            others = "--budget, --files-only" if overview else "--files-only"
            raise UsageError(f"{form} goes with neither {others}, --explain nor lines of context", "ragx query --help")
    if written and not overview:
        raise UsageError("--answer goes with --global", "ragx query --help")
    asked = _asked(question)
    corpus = open_corpus(directory)
    first = [_refresh(corpus)] if refresh else []

    from ragx.search import Options, Searcher
    from ragx.search.overview import rank_communities
    from ragx.search.passages import passages
    from ragx.store import check_complete, open_index

    options = Options(
        top=_MOST_CHUNKS if overview or (budget is not None and top is None) else top,
        graph=not no_graph,
        rerank=rerank,
        lexical=not no_lexical,
        expand=expand,
        deep=deep,
        hops=hops,
        hnsw=hnsw,
        explain=explain,
        paths=tuple(inside(corpus.root, here(directory), given) for given in path or ()),
        kinds=tuple(kind or ()),
        before=0 if files_only or budget or overview else lines if before_context is None else before_context,
        fold=fold,
        after=0 if files_only or budget or overview else lines if after_context is None else after_context,
    )
    limit = corpus.config.query.top if top is None else top
    with open_index(corpus.index_dir) as store:
        if overview:
            check_complete(store)
        searcher = Searcher(store, corpus.config, talk, root=corpus.root)
        answer = searcher.search(asked, options)
        chunks = searcher.meta["last_run"]["chunks_total"]
        hidden = bool(answer.hits) and not (answer.relevant or everything)
        if hidden:
            answer = replace(answer, hits=(), files=())
        found = passages(store, answer.hits, budget) if budget is not None else ()
        communities = rank_communities(store, answer.hits, limit) if overview else ()
        if written and communities:
            answer = searcher.write(answer, communities)
    if budget is not None:
        printed = {chunk_id for passage in found for chunk_id in passage.chunk_ids}
        answer = replace(answer, hits=tuple(hit for hit in answer.hits if hit.chunk_id in printed))
    answer = replace(answer, stages=(*first, *answer.stages))
    topicless = overview and bool(answer.hits) and not communities
    if overview:
        answer = replace(answer, hits=tuple(hit for community in communities for hit in community.hits))
    if budget is not None:
        _print_passages(answer, found, budget, corpus, here(directory), json)
    elif overview:
        _print_communities(answer, communities, corpus, here(directory), json)
    elif json:
        from ragx.render.documents import files_document, query_document

        emit_json(files_document(answer, limit) if files_only else query_document(answer, corpus.config))
    elif answer.hits:
        from ragx.render import terminal, text

        view = terminal.view(sys.stdout, corpus.root, here(directory))
        print(text.files_text(answer, limit, view) if files_only else text.query_text(answer, view, explain=explain))
    if stale := _stale(answer, limit if files_only else None):
        talk(f"note: {stale} of the results' files changed since they were indexed; run: ragx index")
    if not answer.hits:
        talk(_NO_TOPIC if topicless else _nothing(asked, chunks, hidden))
        raise typer.Exit(1)


def _print_passages(
    answer: Answer, found: Sequence["Passage"], budget: int, corpus: OpenCorpus, start: Path, json: bool
) -> None:
    from ragx.render.passages import passages_document, passages_text
    from ragx.render.terminal import view

    if json:
        emit_json(passages_document(answer, found, budget))
    elif found:
        print(passages_text(found, view(sys.stdout, corpus.root, start)))


def _print_communities(
    answer: Answer, found: Sequence[CommunityHit], corpus: OpenCorpus, start: Path, json: bool
) -> None:
    from ragx.render.documents import global_document
    from ragx.render.terminal import view
    from ragx.render.text import global_text

    if json:
        emit_json(global_document(answer, found, corpus.config))
    elif found:
        print(global_text(answer, found, view(sys.stdout, corpus.root, start)))


def _asked(question: str) -> str:
    """What was asked, whatever bytes it came in."""
    data = sys.stdin.buffer.read() if question == "-" else os.fsencode(question)
    return data.decode("utf-8", "replace")


def _folder_and_lines(values: Sequence[str]) -> tuple[Path | None, int | None]:
    """What was given to `-C`, which is a folder for all commands and lines of context for grep."""
    folder, lines = None, None
    for value in values:
        if not re.fullmatch(r"[+-]?[0-9]+", value):
            folder = enter(Path(value))
        elif re.fullmatch(r"[0-9]{1,3}", value) and int(value) <= _MOST_LINES:
            lines = int(value)
        else:
            raise UsageError(f"-C takes 0 to {_MOST_LINES} lines or a folder, not {value[:20]}", "ragx query --help")
    return folder, lines


def _refresh(corpus: OpenCorpus) -> Stage:
    """Brings the index up to date. What keeps that from happening is a warning, unless there is no index at all."""
    from ragx.indexing.run import Options
    from ragx.store import INDEX_NAME

    published = corpus.index_dir / INDEX_NAME
    try:
        report = bring_up_to_date(corpus, Options())
    except RagxError as error:
        if not published.exists():
            raise
        why = f"{error.message}; {error.hint}"
        talk(f"refresh skipped: {why}")
        return Stage("refresh", False, why)
    if not published.exists():
        raise IndexMissing(f"nothing to index in {corpus.root}", "ragx config get corpus.include")
    files = report.files
    if not (files.added or files.changed or files.removed):
        return Stage("refresh", True, "up to date")
    changes = f"{len(files.added)} added, {len(files.changed)} changed, {len(files.removed)} removed"
    return Stage("refresh", True, changes)


def _stale(answer: Answer, files: int | None) -> int:
    """How many of the files that are printed, or whose chunks are, have changed."""
    if files is None:
        return len({hit.file for hit in answer.hits if hit.stale})
    return sum(bool(file.stale) for file in answer.files[:files])


def _nothing(asked: str, chunks: int, hidden: bool) -> str:
    from ragx.render.text import counted

    if not hidden:
        return f"nothing found in {counted(chunks, 'chunk')}"
    echo = shlex.quote(asked.strip())
    if len(echo) > _LONGEST_ECHO or not echo.isprintable():
        echo = "..."
    elif echo.startswith("-"):
        echo = f"-- {echo}"
    return f"nothing relevant in {counted(chunks, 'chunk')}; see the nearest with: ragx query --all {echo}"


def register(app: typer.Typer) -> None:
    """Adds `query` to the command line."""
    app.command("query")(query)
