"""`eval`, top to bottom: read and judge the queries, rank each under every configuration, measure, average."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from ragx.config import Config
from ragx.errors import UsageError
from ragx.evaluation.compare import Scored
from ragx.evaluation.metrics import METRICS, measure
from ragx.evaluation.queries import Item, Judge, JudgedQuery, only_files
from ragx.evaluation.session import Ranking, Session
from ragx.search import Options
from ragx.store import Store
from ragx.types import Progress

DEPTH = 100
"""How far down a ranking is looked at."""


@dataclass(frozen=True)
class Configuration:
    """A way to answer queries: which stages, and what that is called."""

    name: str
    help: str
    options: Options
    by_name: bool = False
    """Whether it is measured only where it is named."""


CONFIGURATIONS = (
    Configuration("lexical", "keyword leg alone", Options(vector=False, graph=False, rerank=False, expand=False)),
    Configuration("baseline", "vector leg alone", Options(lexical=False, graph=False, rerank=False, expand=False)),
    Configuration("hybrid", "both legs, fused", Options(graph=False, rerank=False, expand=False)),
    Configuration("graph", "fused, with heat over the graph", Options(rerank=False, expand=False)),
    Configuration(
        "deep",
        "graph, with a second search; only where it is named",
        Options(deep=True, rerank=False, expand=False),
        by_name=True,
    ),
    Configuration("rerank", "fused, with the cross-encoder", Options(graph=False, rerank=True, expand=False)),
    Configuration("full", "all that the settings turn on, without a chat model", Options(expand=False)),
)


@dataclass(frozen=True)
class Unindexed:
    """A relevant file or line that the index does not hold; it does not count."""

    line: int
    query: str
    name: str


@dataclass(frozen=True)
class Outcome:
    """Where a query's relevant items were found, by configuration."""

    judged: JudgedQuery
    items: tuple[Item, ...]
    ranks: dict[str, tuple[int, ...]]

    @property
    def unit(self) -> str:
        """What was ranked: files, or passages where a line is asked for."""
        return "file" if only_files(self.items) else "passage"

    def values(self, name: str) -> dict[str, float]:
        """The metrics of a configuration."""
        return measure(self.ranks[name], len(self.items))


@dataclass(frozen=True)
class Measured:
    """A configuration's means over all queries. `stages`: how many queries each ran for; `skipped`: and why not."""

    name: str
    values: dict[str, float]
    cpu_ms: float
    stages: dict[str, int]
    skipped: dict[tuple[str, str], int]


@dataclass(frozen=True)
class Evaluation:
    """A measurement; `not_run`: configurations and why; `excluded`: queries of which no relevant item is indexed."""

    embedding_model: str
    rerank_model: str | None
    configurations: tuple[Measured, ...]
    not_run: dict[str, str]
    outcomes: tuple[Outcome, ...]
    excluded: tuple[JudgedQuery, ...]
    unindexed: tuple[Unindexed, ...]

    def scored(self) -> tuple[Scored, ...]:
        """What `compare` takes."""
        return tuple(
            Scored(
                outcome.judged.query,
                frozenset(map(str, outcome.items)),
                {name: outcome.values(name) for name in outcome.ranks},
            )
            for outcome in self.outcomes
        )


def evaluate(
    store: Store,
    config: Config,
    queries: Sequence[JudgedQuery],
    names: Iterable[str],
    progress: Progress,
    *,
    root: Path | None = None,
) -> Evaluation:
    """Measures the configurations of these names (none: all); UsageError where not one query or one can be measured."""
    chosen = _chosen(names)
    session = Session(store, config, progress.warn, root=root)
    answerable, excluded, unindexed = held_against(session, queries)

    progress.stage("loading the models", None, "")
    not_run = {each.name: why for each in chosen if (why := session.load(each.options))}
    runnable = [each for each in chosen if each.name not in not_run]
    if not runnable:
        raise UsageError("; ".join(f"{name} cannot run: {why}" for name, why in not_run.items()))

    progress.stage("asking", len(answerable), "queries")
    outcomes: list[Outcome] = []
    rankings: dict[str, list[Ranking]] = {each.name: [] for each in runnable}
    for judged, items in answerable:
        trial = session.trial(judged.query)
        ranks = {}
        for each in runnable:
            ranking = trial.rank(config, each.options)
            ranks[each.name] = session.hit_ranks(items, ranking.hits, DEPTH)
            rankings[each.name].append(Ranking((), ranking.stages, ranking.cpu_ms))
        outcomes.append(Outcome(judged, items, ranks))
        progress.advance(1)
    return Evaluation(
        embedding_model=config.embeddings.model,
        rerank_model=config.rerank.model if config.rerank.enabled else None,
        configurations=tuple(_measured(name, outcomes, done) for name, done in rankings.items()),
        not_run=not_run,
        outcomes=tuple(outcomes),
        excluded=excluded,
        unindexed=unindexed,
    )


def held_against(
    session: Session, queries: Sequence[JudgedQuery]
) -> tuple[tuple[tuple[JudgedQuery, tuple[Item, ...]], ...], tuple[JudgedQuery, ...], tuple[Unindexed, ...]]:
    """The queries with what of their relevant items is indexed, those left with none, and what is not indexed.

    UsageError where not one query is left.
    """
    judge = Judge(session.passages.values())
    answerable: list[tuple[JudgedQuery, tuple[Item, ...]]] = []
    excluded: list[JudgedQuery] = []
    unindexed: list[Unindexed] = []
    for judged in queries:
        items, missing = judge.items(judged.relevant)
        unindexed += [Unindexed(judged.line, judged.query, name) for name in missing]
        if items:
            answerable.append((judged, items))
        else:
            excluded.append(judged)
    if not answerable:
        example = unindexed[0].name
        raise UsageError(f"no query has a relevant file that is indexed ({example} is not)", "run: ragx index")
    return tuple(answerable), tuple(excluded), tuple(unindexed)


def _chosen(names: Iterable[str]) -> list[Configuration]:
    """In the order of the table, which fills each leg's table as seldom as can be."""
    wanted = set(names)
    known = [each.name for each in CONFIGURATIONS]
    if unknown := sorted(wanted.difference(known)):
        raise UsageError(f"no configuration is called {unknown[0]}", f"there are: {', '.join(known)}")
    return [each for each in CONFIGURATIONS if each.name in wanted or not (wanted or each.by_name)]


def _measured(name: str, outcomes: Sequence[Outcome], rankings: Sequence[Ranking]) -> Measured:
    values = [outcome.values(name) for outcome in outcomes]
    stages = [stage for ranking in rankings for stage in ranking.stages]
    skipped = [(stage.name, stage.detail) for stage in stages if not stage.ran and stage.detail != "off"]
    return Measured(
        name=name,
        values={metric: fmean(each[metric] for each in values) for metric in METRICS},
        cpu_ms=fmean(ranking.cpu_ms for ranking in rankings),
        stages=dict(Counter(stage.name for stage in stages if stage.ran)),
        skipped=dict(Counter(skipped)),
    )
