"""The two legs of a query, and their best as one pool; a leg that cannot run says why and leaves nothing."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ragx.config import Config
from ragx.config.settings import Fusion
from ragx.errors import ModelError
from ragx.search.embedding import embed_query
from ragx.search.loaded import Models
from ragx.search.options import Options
from ragx.search.vector_index import VectorIndex
from ragx.search.weights import vector_weight
from ragx.store import FINISH, INCOMPLETE, Statement, Store, statements
from ragx.store.ids import stable_id
from ragx.text import VERSION as TERMS_VERSION
from ragx.text import Term, terms
from ragx.types import Stage

_SEARCH = statements("search")

NO_WORD = "the query has no letter or digit"
_OTHER_WORDS = "another version of ragx cut the words of the index, so some may not be found"


class Legs:
    """What vectors and keywords say of the chunks, in the session's tables `cosines`, `keyword_scores` and `pool`.

    `scoped`: only of those of the files in `scope`. `complete`: whether the index has vectors of all chunks. `vector`:
    that of the text searched for last, as text, "" without a vector leg. `coverage`: which share of the words searched
    for last the corpus knows.
    """

    def __init__(self, store: Store, meta: dict[str, Any], models: Models, warn: Callable[[str], None]) -> None:
        self.store = store
        self.scoped = False
        self.vector = ""
        self.coverage = 1.0
        self._models = models
        self._warn = warn
        self.complete: bool = meta.get("complete", True)
        self._same_words = meta["rules"]["terms"] == TERMS_VERSION
        self._vector_index = VectorIndex(store, meta.get("vector_index"), warn)
        self._by_index = False

    def run_vector(self, query: str, config: Config, options: Options) -> Stage:
        """The cosine to the query of every chunk, or of the nearest that the vector index finds."""
        self._forget_cosines()
        if not options.vector:
            return Stage("vector", False, "off")
        if not self.complete:
            return self._skip("vector", f"{INCOMPLETE}; {FINISH}")
        if not any(map(str.isalnum, query)):
            # A model gives signs alone a vector like any other, near to texts that have nothing to do with them.
            return Stage("vector", False, NO_WORD)
        try:
            vector = embed_query(self._models.load_embedder(), query)
        except ModelError as error:
            return self._skip("vector", f"{error.message}; {error.hint}")
        return self.search_vector(str(vector.tolist()), config, options)

    def search_vector(self, vector: str, config: Config, options: Options) -> Stage:
        """The same for a vector that is known, as text."""
        self._forget_cosines()
        self.vector = vector
        top = config.fusion.per_query_top
        if self._vector_index.serves(options.hnsw, scoped=self.scoped):
            self.store.run(_SEARCH.search_vectors, vector=self.vector, fetch=self._vector_index.fetch(top))
            self._by_index = self.store.value(_SEARCH.count_cosines) >= top
            if self._by_index:
                return Stage("vector", True, "vector index")
            self.store.run(_SEARCH.clear_cosines, keep_plan=True)
        self.store.run(_SEARCH.scan_vectors, vector=self.vector, scoped=self.scoped)
        return Stage("vector", True, "exact scan")

    def look_deeper(self, config: Config, options: Options) -> None:
        """Searches the last vector again where the vector index had only so many; a scan found all."""
        if self._by_index:
            self.search_vector(self.vector, config, options)

    def run_keyword(self, query: str, tokens: Sequence[Sequence[Term]], config: Config, options: Options) -> Stage:
        """The BM25 score of every chunk that holds a word of the query."""
        self.store.run(_SEARCH.clear_keyword_scores, keep_plan=True)
        if not options.lexical:
            return Stage("keyword", False, "off")
        self.search_keywords(query, tokens, config)
        detail = f"BM25, knows {self.coverage:.0%} of the query"
        if not self._same_words:
            self._warn(f"keyword: {_OTHER_WORDS}; {FINISH}")
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
            scoped=self.scoped,
        )

    def fuse(self, config: Config) -> None:
        """The best of both legs as one pool."""
        self.store.run(_SEARCH.clear_pool, keep_plan=True)
        fusion = config.fusion
        self.fetch_cosines(_SEARCH.wanted_by_keywords, top=fusion.per_query_top)
        self.store.run(
            _SEARCH.fuse,
            keep_plan=True,
            top=fusion.per_query_top,
            method=fusion.method,
            vector_weight=self.vector_weight(fusion),
            rrf_k=fusion.rrf_k,
        )

    def vector_weight(self, fusion: Fusion) -> float:
        """What the vector leg counts in a convex fusion, by how many of the words the corpus knows."""
        return vector_weight(fusion, self.coverage)

    def forget(self) -> None:
        """Forgets what both legs found."""
        self._forget_cosines()
        self.store.run(_SEARCH.clear_keyword_scores, keep_plan=True)

    def fetch_cosines(self, wanted: Statement, **parameters: Any) -> None:
        """The cosines that a stage needs and the vector index did not find; a scan found all."""
        if self._by_index:
            self.store.run(wanted, **parameters)
            self.store.run(_SEARCH.fetch_cosines, vector=self.vector)
            self.store.run(_SEARCH.clear_wanted)

    def _forget_cosines(self) -> None:
        self.vector, self._by_index = "", False
        self.store.run(_SEARCH.clear_cosines, keep_plan=True)

    def _skip(self, stage: str, why: str) -> Stage:
        self._warn(f"{stage} skipped: {why}")
        return Stage(stage, False, why)
