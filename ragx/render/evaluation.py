"""Measurements: a table, configurations down and metrics across, and the document that `--compare` reads."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from ragx import __version__
from ragx.evaluation.compare import Comparison
from ragx.evaluation.metrics import METRICS
from ragx.evaluation.queries import JudgedQuery
from ragx.evaluation.run import DEPTH, Evaluation, Measured, Unindexed
from ragx.render.documents import Document
from ragx.render.snippet import clipped
from ragx.render.terminal import View, visible
from ragx.render.text import counted

_DECIMALS = 6
_MOST_NAMED = 10
_TITLES = {
    "recall_at_5": "R@5",
    "recall_at_10": "R@10",
    "recall_at_100": "R@100",
    "mrr_at_10": "MRR@10",
    "ndcg_at_10": "nDCG@10",
}
_CPU = "CPU ms"
_COLUMN = 9


def eval_document(found: Evaluation, comparison: Comparison | None) -> Document:
    """`ragx.eval.v1`: the means, and per query at which ranks its relevant items were found."""
    document: Document = {
        "schema": "ragx.eval.v1",
        "ragx_version": __version__,
        "embedding_model": found.embedding_model,
        "rerank_model": found.rerank_model,
        "top": DEPTH,
        "query_count": len(found.outcomes),
        "configs": [_config(measured) for measured in found.configurations],
        "not_run": [{"name": name, "reason": reason} for name, reason in found.not_run.items()],
        "excluded": [{"line": judged.line, "query": judged.query} for judged in found.excluded],
        "unindexed": [{"line": gap.line, "query": gap.query, "relevant": gap.name} for gap in found.unindexed],
        "queries": [
            {
                "line": outcome.judged.line,
                "id": outcome.judged.id,
                "query": outcome.judged.query,
                "unit": outcome.unit,
                "relevant": [str(item) for item in outcome.items],
                "per_config": {
                    name: {"hit_ranks": list(ranks), **_rounded(outcome.values(name))}
                    for name, ranks in outcome.ranks.items()
                },
            }
            for outcome in found.outcomes
        ],
    }
    if comparison:
        document["comparison"] = {
            "query_count": comparison.queries,
            "rejudged": comparison.rejudged,
            "configs": [
                {
                    "name": name,
                    **{
                        metric: {
                            "difference": _round(difference.mean),
                            "low": _round(difference.low),
                            "high": _round(difference.high),
                            "noise": difference.noise,
                        }
                        for metric, difference in differences.items()
                    },
                }
                for name, differences in comparison.differences.items()
            ],
        }
    return document


def eval_text(found: Evaluation, comparison: Comparison | None, view: View, *, per_query: bool) -> str:
    """The table, what could not be measured, and on request each query and the differences to another measurement."""
    blocks = [_table(found, view)]
    if notes := [*_notes(found), *not_counted(found.unindexed, found.excluded)]:
        blocks.append(notes)
    if per_query:
        blocks.append(_queries(found, view))
    if comparison:
        blocks.append(list(_differences(comparison)))
    return "\n\n".join("\n".join(block) for block in blocks)


def _config(measured: Measured) -> Document:
    return {
        "name": measured.name,
        **_rounded(measured.values),
        "cpu_ms": _round(measured.cpu_ms),
        "stages": measured.stages,
        "skipped": [
            {"stage": stage, "reason": reason, "queries": queries}
            for (stage, reason), queries in measured.skipped.items()
        ],
    }


def _rounded(values: dict[str, float]) -> Document:
    return {name: _round(value) for name, value in values.items()}


def _round(value: float) -> float:
    return round(value, _DECIMALS) + 0.0


def _table(found: Evaluation, view: View) -> list[str]:
    width = _name_width([measured.name for measured in found.configurations])
    head = "".join(f"{title:>{_COLUMN}}" for title in [*_TITLES.values(), _CPU])
    lines = [f"{counted(len(found.outcomes), 'query')}, mean", f"{'':<{width}}{head}"]
    best = {metric: max(round(each.values[metric], 3) for each in found.configurations) for metric in METRICS}
    for measured in found.configurations:
        cells = []
        for metric in METRICS:
            value = round(measured.values[metric], 3)
            cell = f"{value:>{_COLUMN}.3f}"
            cells.append(view.bold(cell) if value == best[metric] and len(found.configurations) > 1 else cell)
        lines.append(f"{measured.name:<{width}}{''.join(cells)}{measured.cpu_ms:>{_COLUMN},.1f}")
    return lines


def _notes(found: Evaluation) -> Iterator[str]:
    for measured in found.configurations:
        for (stage, reason), queries in measured.skipped.items():
            yield f"{measured.name}: no {stage} for {counted(queries, 'query')}: {visible(reason)}"
    for name, reason in found.not_run.items():
        yield f"{name}: not run: {visible(reason)}"


def not_counted(unindexed: Sequence[Unindexed], excluded: Sequence[JudgedQuery]) -> Iterator[str]:
    """The relevant items that the index does not hold, and the queries that were not asked for that reason."""
    if not unindexed:
        return
    yield f"not in the index, and so not counted: {counted(len(unindexed), 'relevant item')}"
    for gap in unindexed[:_MOST_NAMED]:
        yield f"  line {gap.line}: {visible(gap.name)}"
    if len(unindexed) > _MOST_NAMED:
        yield f"  and {len(unindexed) - _MOST_NAMED:,} more (--json names them all)"
    if excluded:
        numbers = [str(judged.line) for judged in excluded[:_MOST_NAMED]]
        more = ", ..." if len(excluded) > _MOST_NAMED else ""
        left_out = counted(len(excluded), "query")
        yield f"left out, since nothing relevant is indexed: {left_out} (line {', '.join(numbers)}{more})"


def _queries(found: Evaluation, view: View) -> list[str]:
    names = [measured.name for measured in found.configurations]
    head = "".join(f"{name:>{_COLUMN}}" for name in names)
    lines = [f"{head}  {_TITLES['ndcg_at_10']} of"]
    room = max(20, view.width - len(head) - 2)
    for outcome in found.outcomes:
        cells = "".join(f"{outcome.values(name)['ndcg_at_10']:>{_COLUMN}.3f}" for name in names)
        query = visible(" ".join(outcome.judged.query.split()))
        lines.append(f"{cells}  {query if cell_len(query) <= room else clipped(query, room)}")
    return lines


def _differences(comparison: Comparison) -> Iterator[str]:
    changed = f"; {comparison.rejudged:,} of them judged otherwise then" if comparison.rejudged else ""
    yield f"difference, over the {counted(comparison.queries, 'query')} of both{changed} [95 % interval]"
    width = _name_width(list(comparison.differences))
    for name, differences in comparison.differences.items():
        for metric, difference in differences.items():
            interval = f"{difference.mean:+z.3f} [{difference.low:+z.3f}, {difference.high:+z.3f}]"
            noise = "  noise" if difference.noise else ""
            yield f"{name:<{width}}{_TITLES[metric]:<{_COLUMN}}{interval}{noise}"


def _name_width(names: Sequence[str]) -> int:
    return max(map(len, names)) + 1
