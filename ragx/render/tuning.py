"""What `tune` found: the gain with its interval, and the commands that set it only where it is more than noise."""

from collections.abc import Iterator, Mapping
from typing import Any

from ragx import __version__
from ragx.config import MACHINE_FILE
from ragx.evaluation.tune import LEAST_QUERIES, Tuning
from ragx.render.documents import Document
from ragx.render.evaluation import not_counted
from ragx.render.text import counted

_DECIMALS = 6
_TITLES = {"ndcg@10": "nDCG@10", "mrr@10": "MRR@10", "recall@10": "recall@10"}
_NAME = 33


def tune_document(found: Tuning, sources: Mapping[str, str]) -> Document:
    """`ragx.tune.v1`; `sources` says which file each setting comes from."""
    gain = found.gain
    return {
        "schema": "ragx.tune.v1",
        "ragx_version": __version__,
        "embedding_model": found.embedding_model,
        "rerank_model": found.rerank_model,
        "metric": found.metric,
        "query_count": found.queries,
        "distinct_count": found.distinct,
        "least_queries": LEAST_QUERIES,
        "verdict": found.verdict,
        "present_mean": _round(found.before),
        "held_out_mean": _round(found.held_out),
        "fitted_mean": _round(found.fitted),
        "gain": {
            "difference": _round(gain.mean),
            "low": _round(gain.low),
            "high": _round(gain.high),
            "noise": gain.noise,
        },
        "proposals": [
            {
                "setting": name,
                "present": found.present[name],
                "proposed": value,
                "command": _command(name, value, sources),
            }
            for name, value in found.proposals.items()
        ],
        "present": found.present,
        "folds": [{"query_count": fold.queries, "settings": fold.settings} for fold in found.folds],
        "excluded": [{"line": judged.line, "query": judged.query} for judged in found.excluded],
        "unindexed": [{"line": gap.line, "query": gap.query, "relevant": gap.name} for gap in found.unindexed],
    }


def tune_text(found: Tuning, sources: Mapping[str, str]) -> str:
    """The means, the verdict with its commands, and what could not be counted."""
    blocks = [list(_means(found)), list(_verdict(found, sources))]
    if notes := list(not_counted(found.unindexed, found.excluded)):
        blocks.append(notes)
    return "\n\n".join("\n".join(block) for block in blocks)


def _means(found: Tuning) -> Iterator[str]:
    folds = f"{counted(len(found.folds), 'fold')}"
    yield f"{counted(found.queries, 'query')}, mean {_TITLES[found.metric]} [95 % interval]"
    yield f"{'present settings':<{_NAME}}{found.before:6.3f}"
    yield f"{f'tuned, unseen queries ({folds})':<{_NAME}}{found.held_out:6.3f}"
    gain = found.gain
    noise = "  noise" if gain.noise else ""
    yield f"{'difference':<{_NAME}}{gain.mean:+z6.3f} [{gain.low:+z.3f}, {gain.high:+z.3f}]{noise}"


def _verdict(found: Tuning, sources: Mapping[str, str]) -> Iterator[str]:
    if found.verdict == "too_few":
        yield f"too few to tell anything: {counted(found.distinct, 'distinct query')}; {LEAST_QUERIES} are the least"
    elif found.verdict == "noise":
        yield f"no setting is better beyond noise on these {counted(found.queries, 'query')}"
    else:
        yield f"better beyond noise; with these, {found.fitted:.3f} on the queries that they were found on:"
        for name, value in found.proposals.items():
            yield _command(name, value, sources)


def _command(name: str, value: Any, sources: Mapping[str, str]) -> str:
    # What ~/.ragxrc sets overrides ragx.toml, so the new value has to go there.
    machine = "--global " if sources.get(name) == MACHINE_FILE else ""
    return f"ragx config set {machine}{name} {value}"


def _round(value: float) -> float:
    return round(value, _DECIMALS) + 0.0
