"""A query, top to bottom: two legs, fusion, heat over the graph, cross-encoder, score."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ragx.config import Config
from ragx.config.settings import Rerank
from ragx.errors import ConsentNeeded, ModelError, RagxError, UsageError
from ragx.models import RerankerRow, reranker_row
from ragx.search.expansion import ask_for_wordings, described, fuse_wordings, rank_wordings
from ragx.search.folding import Group, deeper, fold
from ragx.search.freshness import Files, compare
from ragx.search.heat import Heat
from ragx.search.legs import NO_WORD, Legs
from ragx.search.loaded import Models
from ragx.search.options import Options
from ragx.search.readable import readable_text
from ragx.search.relevance import is_relevant
from ragx.search.reranking import foreign_language, passage
from ragx.search.results import describe, rank_files
from ragx.search.scope import set_scope
from ragx.search.second import search_again
from ragx.search.weights import HEAT_BONUS, LINK_BONUS, SECOND_BONUS, Weights, weights
from ragx.store import INCOMPLETE, Store, statements
from ragx.text import Term, detect, query_terms
from ragx.types import Answer, CommunityHit, Expansion, Stage

_SEARCH = statements("search")
_KEYWORD = statements("keyword")


class Searcher:
    """Answers queries on one open index; models are loaded once, when the first query needs them.

    `search` is the whole of it. Each stage reads what the stages before it left in the session's tables and replaces
    what itself left there, so stages can be run again alone under other settings.
    Without `root`, the folder of the corpus, no file is looked at: nothing is found stale, and no hit has a context.
    """

    def __init__(self, store: Store, config: Config, warn: Callable[[str], None], *, root: Path | None = None) -> None:
        self.store = store
        self.config = config
        self.warn = warn
        self.meta = store.meta()
        self.languages = [row[0] for row in store.rows(_KEYWORD.corpus_languages)]
        self._root = root or Path()
        self._files = Files(store, root, self.meta["scanned_ns"], config.corpus.max_file_bytes) if root else None
        self.models = Models(self.meta, config, self._root, warn)
        self.legs = Legs(store, self.meta, self.models, warn)
        self.heat = Heat(store, self.meta.get("random_pair_cosines", {}).get("0.5"))
        self._expansion = Expansion()
        self._wordings = 0
        store.script("session")

    def search(self, query: str, options: Options) -> Answer:
        """The best chunks and files for `query`; stages that cannot run are skipped with a warning and named."""
        if not query.strip():
            raise UsageError("the query is empty", 'try: ragx query "how are backups made?"')
        self.legs.scoped = set_scope(self.store, options.paths, options.kinds, self.warn)
        config = self.config
        tokens = query_terms(query, self.languages)
        top = config.query.top if options.top is None else options.top
        folds = config.query.fold if options.fold is None else options.fold
        legs = [
            self.expand(query, config, options),
            self.legs.run_vector(query, config, options),
            self.legs.run_keyword(query, tokens, config, options),
        ]
        if legs[0].ran:
            legs[0] = self.widen(legs[0], query, tokens, config, options)
        while True:
            stages = [
                *legs,
                self.fuse(config),
                self.spread(config, options),
                self.search_again(query, config, options),
                self.rerank(query, config, options),
            ]
            chosen = self.weights(config, stages)
            ranked = self.rank(chosen)
            groups = fold(self.store, ranked, config.query.fold_cosine) if folds else [Group(row) for row in ranked]
            depth = deeper(groups, ranked, top, config.fusion.per_query_top)
            if depth is None:
                break
            config = replace(config, fusion=replace(config.fusion, per_query_top=depth))
            self.legs.look_deeper(config, options)
        answer = Answer(
            query=query,
            hits=describe(self.store, groups[:top], explain=options.explain),
            files=rank_files(ranked),
            stages=tuple(stages),
            weights={
                "rerank": chosen.alpha,
                "heat": chosen.beta,
                "link": chosen.beta_link,
                "second": chosen.beta_second,
                "fused": chosen.gamma,
            },
            relevant=bool(ranked)
            and is_relevant(self.store, self.meta.get("own_sentence_cosine"), tokens, self.languages),
            terms=frozenset(term.term for token in tokens for term in token),
            expansion=self._expansion,
        )
        if self._files is None:
            return answer
        lines = config.query.context_lines
        before, after = (lines if asked is None else asked for asked in (options.before, options.after))
        return compare(answer, self._files, top, before, after)

    def expand(self, query: str, config: Config, options: Options) -> Stage:
        """Other wordings of the query, by one call of the chat model."""
        self._expansion, self._wordings = Expansion(), 0
        wanted = config.expansion.enabled if options.expand is None else options.expand
        if not wanted:
            return Stage("expansion", False, "off")
        if not any(map(str.isalnum, query)):
            return Stage("expansion", False, NO_WORD)
        try:
            self._expansion = ask_for_wordings(self.models.load_chat(), query, config.expansion)
        except RagxError as error:
            # Whatever keeps it from answering, a consent that is missing too, a query needs no chat model.
            return self._skip("expansion", f"{error.message}; {error.hint}")
        return Stage("expansion", True, f"{config.expansion.model}: {described(self._expansion)}")

    def widen(
        self, stage: Stage, query: str, tokens: Sequence[Sequence[Term]], config: Config, options: Options
    ) -> Stage:
        """Ranks the other wordings as well; the tables of the legs are left as they were."""
        legs, vector = self.legs, self.legs.vector
        try:
            self._wordings = rank_wordings(legs, self._expansion, self.models, self.languages, config, options)
        except ModelError as error:
            self._expansion = Expansion()
            stage = self._skip("expansion", f"{error.message}; {error.hint}")
        legs.forget()
        if vector:
            legs.search_vector(vector, config, options)
        if options.lexical:
            legs.search_keywords(query, tokens, config)
        return stage

    def fuse(self, config: Config) -> Stage:
        """The best of both legs as one pool, and by rank with what other wordings of the query found."""
        self.legs.fuse(config)
        if not self._wordings:
            return Stage("fusion", True, config.fusion.method)
        fuse_wordings(self.store, config.fusion.rrf_k, self.legs.fetch_cosines)
        return Stage("fusion", True, f"{config.fusion.method}, then rrf over {self._wordings + 1} wordings")

    def spread(self, config: Config, options: Options) -> Stage:
        """Heat from the best of the pool over the graph; what only heat reached joins the pool."""
        self.heat.clear()
        if not options.graph:
            return Stage("graph", False, "off")
        if not self.legs.complete:  # the vector leg said so
            return Stage("graph", False, INCOMPLETE)
        self.heat.spread(
            self._by_rank(config),
            options.hops,
            self.legs.fetch_cosines,
            vector_weight=self.legs.vector_weight(config.fusion),
            scoped=self.legs.scoped,
            explain=options.explain,
        )
        return Stage("graph", True, config.traversal.preset)

    def search_again(self, query: str, config: Config, options: Options) -> Stage:
        """What the first hit leads to; it joins the pool."""
        if not options.deep:
            return Stage("second", False, "off")
        try:
            stage = search_again(
                self.store,
                config.query.second,
                query,
                config.keyword,
                self.models.load_embedder,
                self.legs.fetch_cosines,
                scoped=self.legs.scoped,
            )
        except ModelError as error:
            return self._skip("second", f"{error.message}; {error.hint}")
        self.heat.admit(self._by_rank(config), self.legs.vector_weight(config.fusion))
        return stage

    def _by_rank(self, config: Config) -> Config:
        """For what joins a pool of several wordings: reciprocal ranks are a scale that no cosine can be put on."""
        return replace(config, fusion=replace(config.fusion, method="rrf")) if self._wordings else config

    def rerank(self, query: str, config: Config, options: Options) -> Stage:
        """What the cross-encoder says of the best of the pool."""
        self.store.run(_SEARCH.clear_logits, keep_plan=True)
        wanted = config.rerank.enabled if options.rerank is None else options.rerank
        if not wanted:
            return Stage("rerank", False, "off")
        try:
            row = reranker_row(config.rerank, self._root)
        except ModelError as error:
            return self._skip("rerank", f"{error.message}; {error.hint}")
        depth = config.rerank.depth or row.depth
        bonus = {"heat_bonus": HEAT_BONUS, "link_bonus": LINK_BONUS, "second_bonus": SECOND_BONUS}
        shortlist = self.store.rows(_SEARCH.shortlist, keep_plan=True, depth=depth, **bonus)
        stage, logits = self.read(query, row, [columns for _, *columns in shortlist])
        if stage.ran:
            self.store.run(_SEARCH.add_logits, chunk_ids=[chunk_id for chunk_id, *_ in shortlist], logits=logits)
        return stage

    def read(self, query: str, row: RerankerRow, texts: Sequence[Sequence[Any]]) -> tuple[Stage, list[float]]:
        """A logit for each text, with its path, headings and language, if the cross-encoder of `row` reads them."""
        foreign = foreign_language(row.languages, detect(query), [language for *_, language in texts])
        if foreign:
            return Stage("rerank", False, f"{row.name} does not read {foreign}"), []
        if not texts:
            return Stage("rerank", False, "nothing to rerank"), []
        try:
            reranker = self.models.load_reranker()
        except ModelError as error:
            return self._skip("rerank", f"{error.message}; {error.hint}"), []
        passages = [passage(headings, readable_text(text, path)) for text, path, headings, _ in texts]
        return Stage("rerank", True, f"{row.name}, {len(texts)} passages"), reranker.score(query, passages)

    def weights(self, config: Config, stages: Sequence[Stage], linked: bool | None = None) -> Weights:
        """What the stages that ran count in the score; `linked`: whether heat came over links, if the caller knows."""
        ran = {stage.name for stage in stages if stage.ran}
        try:
            row = reranker_row(config.rerank, self._root)
        except (ModelError, ConsentNeeded):  # said by its stage; the others still have weights
            row = reranker_row(Rerank())
        if linked is None:
            linked = "graph" in ran and self.heat.came_over_links()
        return weights(
            config.scoring,
            row,
            rerank="rerank" in ran,
            graph="graph" in ran,
            link=linked,
            second="second" in ran,
        )

    def write(self, answer: Answer, topics: Sequence[CommunityHit]) -> Answer:
        """The same with an answer in words by the chat model, from the passages of the topics."""
        # No other query needs it.
        from ragx.search.writing import write_answer

        written = None
        try:
            written = write_answer(self.models.load_chat(), answer.query, topics)
            stage = Stage("answer", True, f"{self.config.expansion.model}, passages of {len(topics)} topics")
        except RagxError as error:
            stage = self._skip("answer", f"{error.message}; {error.hint}")
        return replace(answer, written=written, stages=(*answer.stages, stage))

    def rank(self, chosen: Weights) -> list[tuple[Any, ...]]:
        """All candidates, best first: chunk id, file, score, the parts of the score (types.Parts) and the headings."""
        return self.store.rows(_SEARCH.rank, keep_plan=True, **asdict(chosen))

    def _skip(self, stage: str, why: str) -> Stage:
        self.warn(f"{stage} skipped: {why}")
        return Stage(stage, False, why)
