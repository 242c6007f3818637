"""`ragx index`: brings the index up to date and says on stdout what it did, in a few lines or as one document."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragx.cli.common import Directory, Json, OpenCorpus, Quiet, emit_json, here, is_quiet, open_corpus, talk
from ragx.errors import UsageError
from ragx.types import IndexReport

if TYPE_CHECKING:
    from ragx.indexing.run import Options

_FEW_WARNINGS = 10


def index(
    path: Annotated[
        Path | None, typer.Argument(show_default=False, help="The corpus, or a folder in it.  [default: here]")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", "--force", help="Build anew: chunk and embed everything again.")
    ] = False,
    keep_vectors: Annotated[
        bool, typer.Option("--keep-vectors", help="With --full: embed only texts that have no vector yet.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done to files; write nothing.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait while another process is indexing.")] = False,
    describe: Annotated[
        bool,
        typer.Option("--describe", help="Let the chat model of [expansion] name each topic that has no title yet."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name each file added, changed, removed or skipped.")
    ] = False,
    json: Json = False,
    changed: Annotated[bool, typer.Option("--changed", hidden=True)] = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Bring the index up to date with the files."""
    if keep_vectors and not full:
        raise UsageError("--keep-vectors goes with --full", "run: ragx index --full --keep-vectors")
    if path is not None and not path.is_dir():
        raise UsageError(f"{path} is not a folder")
    if changed:
        talk("note: --changed is deprecated: index is always incremental")
    corpus = open_corpus(here(directory) / path if path else directory)

    from ragx.indexing.run import Options
    from ragx.render import documents, summary, terminal

    options = Options(full=full, keep_vectors=keep_vectors, dry_run=dry_run, wait=wait, describe=describe)
    report = bring_up_to_date(corpus, options, verbose=verbose)
    files = report.files
    empty = not (files.added or files.changed or files.unchanged)
    if json:
        emit_json(documents.index_document(report, name_files=verbose))
    elif not is_quiet() and (verbose or not empty or files.removed):
        view = terminal.view(sys.stdout, corpus.root, here(directory))
        print(summary.index_text(report, view, name_files=verbose))
    if empty:
        talk(_nothing(report, corpus.root, here(directory)))
        raise typer.Exit(1)


def bring_up_to_date(corpus: OpenCorpus, options: "Options", *, verbose: bool = False) -> IndexReport:
    """An indexing run whose progress and warnings show on stderr, of the warnings only a few unless `verbose`."""
    from ragx.indexing.run import index as run
    from ragx.render.progress import watch

    with watch(quiet=is_quiet()) as progress:
        report = run(corpus.root, corpus.config, options, progress)
    shown = report.warnings if verbose else report.warnings[:_FEW_WARNINGS]
    for warning in shown:
        talk(f"warning: {warning}")
    if len(shown) < len(report.warnings):
        talk(f"warning: {len(report.warnings) - len(shown)} more of this kind (ragx index -v shows all)")
    return report


def _nothing(report: IndexReport, root: Path, here: Path) -> str:
    elsewhere = "" if root == here else f" -C {shlex.quote(str(root))}"
    left_out = f", {len(report.files.skipped):,} left out (-v names them)" if report.files.skipped else ""
    return f"nothing to index in {root}{left_out}; the globs are: ragx config get corpus.include{elsewhere}"


def register(app: typer.Typer) -> None:
    """Adds `index` to the command line."""
    app.command("index")(index)
