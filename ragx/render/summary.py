"""Runs and the state of an index in a few lines, numbers first, names on request."""

from collections.abc import Iterator, Sequence

from ragx.diagnosis import Status
from ragx.files.discover import OWN
from ragx.render.documents import count_reasons
from ragx.render.terminal import View, visible
from ragx.render.text import counted
from ragx.types import IndexReport, Skipped

_FEW = 0.05


def index_text(report: IndexReport, view: View, *, name_files: bool) -> str:
    """What a run did, or with `dry_run` would do; one line where nothing was to be done."""
    named = [*_changes(report, view), ""] if name_files else []
    files = report.files
    if not (report.changed or report.dry_run):
        return "\n".join([*named, *_up_to_date(report, name_files)])
    lines = [
        f"files   {len(files.added):,} added, {len(files.changed):,} changed, {len(files.removed):,} removed, "
        f"{files.unchanged:,} unchanged"
    ]
    if skipped := _foreign(files.skipped):
        lines.append(f"skipped {_skipped(skipped)}")
    if report.dry_run:
        lines.append("nothing was written: this was a dry run")
    else:
        lines += [
            f"chunks  {report.chunks_added:,} added, {report.chunks_removed:,} removed, {report.chunks_total:,} in all",
            f"texts   {report.texts_embedded:,} embedded, {report.texts_reused:,} reused",
            f"graph   {counted(report.edges_total, 'edge')}, {counted(report.communities_total, 'community')}"
            + f", {report.communities_described:,} described" * bool(report.communities_described),
            f"time    {_seconds(report.seconds)}",
        ]
    return "\n".join([*named, *lines])


def status_text(status: Status, view: View, *, pending: bool) -> str:
    """The index in numbers, and whether the files have moved on."""
    drift = status.drift
    run = status.last_run
    lines = [
        f"corpus      {visible(str(status.root))}",
        f"index       {visible(str(status.index))}, {_size(status.size_bytes)}, ragx {status.ragx_version}",
        f"embeddings  {visible(status.embedding_model)}, {counted(status.dimension, 'dimension')}",
        f"reranker    {visible(status.rerank_model) if status.rerank_model else 'off'}",
        f"files       {status.files:,}",
        f"chunks      {status.chunks:,} ({counted(status.texts, 'distinct text')})",
        f"links       {status.links:,}, {status.unresolved_links:,} of them unresolved",
        f"graph       {_graph(status)}",
        f"languages   {_languages(status.languages)}",
        f"last run    {run.finished:%Y-%m-%d %H:%M:%S} UTC, {_seconds(run.seconds)}",
    ]
    if skipped := _foreign(status.skipped):
        lines.append(f"skipped     {_skipped(skipped)}")
    if drift.new or drift.changed or drift.deleted:
        counts = f"{len(drift.new):,} new, {len(drift.changed):,} changed, {len(drift.deleted):,} deleted"
        lines.append(f"drift       {counts}; run: ragx index")
    else:
        lines.append("drift       none")
    if pending:
        for kind, paths in (("new", drift.new), ("changed", drift.changed), ("deleted", drift.deleted)):
            lines += [f"  {kind:<8}  {view.place(path)}" for path in paths]
    return "\n".join(lines)


def _graph(status: Status) -> str:
    if not status.complete:
        return "none yet, and no vectors; run: ragx index"
    return f"{counted(status.edges, 'edge')}, {counted(status.communities, 'community')}"


def _up_to_date(report: IndexReport, name_files: bool) -> Iterator[str]:
    if report.files.unchanged:
        skipped = [] if name_files else _foreign(report.files.skipped)
        hint = f"; {counted(len(skipped), 'path')} skipped (-v names them)" if skipped else ""
        yield f"up to date: {counted(report.files.unchanged, 'file')}, {counted(report.chunks_total, 'chunk')}{hint}"


def _changes(report: IndexReport, view: View) -> Iterator[str]:
    files = report.files
    for kind, paths in (("added", files.added), ("changed", files.changed), ("removed", files.removed)):
        yield from (f"{kind:<7}  {view.place(path)}" for path in paths)
    yield from (f"skipped  {view.place(entry.path)}  {view.dim(f'({entry.reason})')}" for entry in files.skipped)


def _foreign(skipped: Sequence[Skipped]) -> list[Skipped]:
    """Without ragx's own files: every corpus has them, so they tell nobody anything."""
    return [entry for entry in skipped if entry.reason != OWN]


def _skipped(skipped: Sequence[Skipped]) -> str:
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in count_reasons(skipped).items())
    return f"{counted(len(skipped), 'path')}: {reasons}"


def _seconds(seconds: dict[str, float]) -> str:
    telling = [f"{stage} {spent:.1f}" for stage, spent in seconds.items() if spent >= _FEW]
    total = f"{sum(seconds.values()):.1f} s"
    return f"{total} ({', '.join(telling)})" if telling else total


def _languages(languages: dict[str, int]) -> str:
    return ", ".join(f"{code or 'unknown'} {chunks:,}" for code, chunks in languages.items()) or "none"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
