"""A query, top to bottom: two legs, fusion, heat over the graph, cross-encoder, score."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ragx.config import Config
from ragx.config.settings import Rerank
from ragx.errors import ConsentNeeded, ModelError, RagxError, UsageError
from ragx.models import RerankerRow, load_chat, load_reranker, reranker_row
from ragx.search.embedding import embed_query, query_embedder
from ragx.search.expansion import ask_for_wordings, described, fuse_wordings, rank_wordings
from ragx.search.folding import Group, deeper, fold
from ragx.search.freshness import Files, compare
from ragx.search.heat import Heat
from ragx.search.readable import readable_text
from ragx.search.relevance import is_relevant
from ragx.search.reranking import foreign_language, passage
from ragx.search.results import describe, rank_files
from ragx.search.scope import set_scope
from ragx.search.second import search_again
from ragx.search.vector_index import VectorIndex
from ragx.search.weights import HEAT_BONUS, LINK_BONUS, SECOND_BONUS, Weights, vector_weight, weights
from ragx.store import FINISH, INCOMPLETE, Statement, Store, is_complete, statements
from ragx.store.ids import stable_id
from ragx.text import VERSION as TERMS_VERSION
from ragx.text import Term, detect, query_terms, terms
from ragx.types import Answer, Chat, CommunityHit, Embedder, Expansion, Reranker, Stage

_SEARCH = statements("search")
_KEYWORD = statements("keyword")

_NO_WORD = "the query has no letter or digit"
_OTHER_WORDS = "another version of ragx cut the words of the index, so some may not be found"


@dataclass(frozen=True)
class Options:
    """Stages of a query to leave out, and what to return. `None` leaves a choice to the settings."""

    top: int | None = None
    graph: bool = True
    rerank: bool | None = None
    vector: bool = True
    lexical: bool = True
    expand: bool | None = None
    deep: bool = False
    hops: int | None = None
    hnsw: bool | None = None
    explain: bool = False
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None
    fold: bool | None = None


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
        self.embedder: Embedder | None = None
        self.reranker: Reranker | None = None
        self.chat: Chat | None = None
        self._complete = is_complete(store)
        self._scoped = False
        self._vector_index = VectorIndex(store, self.meta.get("vector_index"), warn)
        self._vector = ""
        self._by_index = False
        self.coverage = 1.0
        self.heat = Heat(store, self.meta.get("random_pair_cosines", {}).get("0.5"))
        self._expansion = Expansion()
        self._wordings = 0
        store.script("session")

    def search(self, query: str, options: Options) -> Answer:
        """The best chunks and files for `query`; stages that cannot run are skipped with a warning and named."""
        if not query.strip():
            raise UsageError("the query is empty", 'try: ragx query "how are backups made?"')
        self._scoped = set_scope(self.store, options.paths, options.kinds)
        config = self.config
        tokens = query_terms(query, self.languages)
        top = config.query.top if options.top is None else options.top
        folds = config.query.fold if options.fold is None else options.fold
        legs = [
            self.expand(query, config, options),
            self.vector_leg(query, config, options),
            self.keyword_leg(query, tokens, config, options),
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
            if self._by_index:
                self.search_vector(self._vector, config, options)
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
            return Stage("expansion", False, _NO_WORD)
        try:
            self._expansion = ask_for_wordings(self.load_chat(), query, config.expansion)
        except RagxError as error:
            # Whatever keeps it from answering, a consent that is missing too, a query needs no chat model.
            return self._skip("expansion", f"{error.message}; {error.hint}")
        return Stage("expansion", True, f"{config.expansion.model}: {described(self._expansion)}")

    def widen(
        self, stage: Stage, query: str, tokens: Sequence[Sequence[Term]], config: Config, options: Options
    ) -> Stage:
        """Ranks the other wordings as well; the tables of the legs are left as they were."""
        vector = self._vector
        try:
            self._wordings = rank_wordings(self, self._expansion, config, options, vector=bool(vector))
        except ModelError as error:
            self._expansion = Expansion()
            stage = self._skip("expansion", f"{error.message}; {error.hint}")
        self.leave_nothing()
        if vector:
            self.search_vector(vector, config, options)
        if options.lexical:
            self.search_keywords(query, tokens, config)
        return stage

    def leave_nothing(self) -> None:
        """Forgets what both legs found."""
        self._vector, self._by_index = "", False
        self.store.run(_SEARCH.clear_cosines, keep_plan=True)
        self.store.run(_SEARCH.clear_keyword_scores, keep_plan=True)

    def vector_leg(self, query: str, config: Config, options: Options) -> Stage:
        """The cosine to the query of every chunk, or of the nearest that the vector index finds."""
        self.store.run(_SEARCH.clear_cosines, keep_plan=True)
        self._vector, self._by_index = "", False
        if not options.vector:
            return Stage("vector", False, "off")
        if not self._complete:
            return self._skip("vector", f"{INCOMPLETE}; {FINISH}")
        if not any(map(str.isalnum, query)):
            # A model gives signs alone a vector like any other, near to texts that have nothing to do with them.
            return Stage("vector", False, _NO_WORD)
        try:
            vector = embed_query(self.load_embedder(), query)
        except ModelError as error:
            return self._skip("vector", f"{error.message}; {error.hint}")
        return self.search_vector(str(vector.tolist()), config, options)

    def search_vector(self, vector: str, config: Config, options: Options) -> Stage:
        """The same for a vector that is known, as text."""
        self._vector, self._by_index = vector, False
        self.store.run(_SEARCH.clear_cosines, keep_plan=True)
        top = config.fusion.per_query_top
        if self._vector_index.serves(options.hnsw, scoped=self._scoped):
            self.store.run(_SEARCH.search_vectors, vector=self._vector, fetch=self._vector_index.fetch(top))
            self._by_index = self.store.value(_SEARCH.count_cosines) >= top
            if self._by_index:
                return Stage("vector", True, "vector index")
            self.store.run(_SEARCH.clear_cosines, keep_plan=True)
        self.store.run(_SEARCH.scan_vectors, vector=self._vector, scoped=self._scoped)
        return Stage("vector", True, "exact scan")

    def keyword_leg(self, query: str, tokens: Sequence[Sequence[Term]], config: Config, options: Options) -> Stage:
        """The BM25 score of every chunk that holds a word of the query."""
        self.store.run(_SEARCH.clear_keyword_scores, keep_plan=True)
        if not options.lexical:
            return Stage("keyword", False, "off")
        self.search_keywords(query, tokens, config)
        detail = f"BM25, knows {self.coverage:.0%} of the query"
        if self.meta["rules"]["terms"] != TERMS_VERSION:
            self.warn(f"keyword: {_OTHER_WORDS}; {FINISH}")
            detail += f"; {_OTHER_WORDS}"
        return Stage("keyword", True, detail)

    def search_keywords(self, query: str, tokens: Sequence[Sequence[Term]], config: Config) -> None:
        """The same for a text and its terms, added to what is there."""
        counts = Counter(term.form for term in terms(query, ""))
        pairs = [(number, term) for number, token in enumerate(tokens) for term in token]
        words: dict[str, Any] = {
            "tokens": [number for number, _ in pairs],
            "term_ids": [stable_id(term.term) for _, term in pairs],
        }
        self.coverage = self.store.value(_SEARCH.query_coverage, **words)
        self.store.run(
            _SEARCH.score_keywords,
            **words,
            counts=[max(1, counts[term.form]) for _, term in pairs],
            k1=config.keyword.k1,
            b=config.keyword.b,
            scoped=self._scoped,
        )

    def fuse(self, config: Config) -> Stage:
        """The best of both legs as one pool, and by rank with what other wordings of the query found."""
        self.fuse_legs(config)
        if not self._wordings:
            return Stage("fusion", True, config.fusion.method)
        fuse_wordings(self.store, config.fusion.rrf_k, self._fetch_cosines)
        return Stage("fusion", True, f"{config.fusion.method}, then rrf over {self._wordings + 1} wordings")

    def fuse_legs(self, config: Config) -> None:
        """The best of both legs as one pool."""
        self.store.run(_SEARCH.clear_pool, keep_plan=True)
        fusion = config.fusion
        self._fetch_cosines(_SEARCH.wanted_by_keywords, top=fusion.per_query_top)
        self.store.run(
            _SEARCH.fuse,
            keep_plan=True,
            top=fusion.per_query_top,
            method=fusion.method,
            vector_weight=vector_weight(fusion, self.coverage),
            rrf_k=fusion.rrf_k,
        )

    def spread(self, config: Config, options: Options) -> Stage:
        """Heat from the best of the pool over the graph; what only heat reached joins the pool."""
        self.heat.clear()
        if not options.graph:
            return Stage("graph", False, "off")
        if not self._complete:  # the vector leg said so
            return Stage("graph", False, INCOMPLETE)
        self.heat.spread(
            self._by_rank(config),
            options.hops,
            self._fetch_cosines,
            vector_weight=vector_weight(config.fusion, self.coverage),
            scoped=self._scoped,
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
                self.load_embedder,
                self._fetch_cosines,
                scoped=self._scoped,
            )
        except ModelError as error:
            return self._skip("second", f"{error.message}; {error.hint}")
        self.heat.admit(self._by_rank(config), vector_weight(config.fusion, self.coverage))
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
            reranker = self.load_reranker()
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
            written = write_answer(self.load_chat(), answer.query, topics)
            stage = Stage("answer", True, f"{self.config.expansion.model}, passages of {len(topics)} topics")
        except RagxError as error:
            stage = self._skip("answer", f"{error.message}; {error.hint}")
        return replace(answer, written=written, stages=(*answer.stages, stage))

    def rank(self, chosen: Weights) -> list[tuple[Any, ...]]:
        """All candidates, best first: chunk id, file, score, the parts of the score (types.Parts) and the headings."""
        return self.store.rows(_SEARCH.rank, keep_plan=True, **asdict(chosen))

    def _fetch_cosines(self, wanted: Statement, **parameters: Any) -> None:
        """The cosines that a stage needs and the vector index did not find; a scan found all."""
        if self._by_index:
            self.store.run(wanted, **parameters)
            self.store.run(_SEARCH.fetch_cosines, vector=self._vector)
            self.store.run(_SEARCH.clear_wanted)

    def _skip(self, stage: str, why: str) -> Stage:
        self.warn(f"{stage} skipped: {why}")
        return Stage(stage, False, why)

    def load_chat(self) -> Chat:
        """The chat model of the settings; ModelError, ConfigError, ConsentNeeded: it may not or cannot be asked."""
        if self.chat is None:
            self.chat = load_chat(self.config.expansion, announce=self.warn)
        return self.chat

    def load_reranker(self) -> Reranker:
        """The cross-encoder of the settings; ModelError where it cannot be had."""
        if self.reranker is None:
            self.reranker = load_reranker(self.config.rerank, root=self._root, announce=self.warn)
        return self.reranker

    def load_embedder(self) -> Embedder:
        """The embedding model of the settings; IndexUnusable where the index was built with another."""
        if self.embedder is None:
            self.embedder = query_embedder(self.meta, self.config, self._root, self.warn)
        return self.embedder
