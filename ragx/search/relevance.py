"""Whether the corpus is about a question at all, measured by the corpus itself."""

from collections.abc import Sequence

from ragx.store import Store, statements
from ragx.store.ids import stable_id
from ragx.text import Term, is_stop_word

_SEARCH = statements("search")

_RARE_SHARE = 0.01
_RARE_LEAST = 3


def is_relevant(store: Store, level: float | None, tokens: Sequence[Sequence[Term]], languages: Sequence[str]) -> bool:
    """Whether a chunk is as near to the query as to the corpus's own sentences (`level`), or its words say that it is.

    They do if a rare one occurs, or if all that are no stop words do: where notes are much alike, their own
    sentences are nearer than any question is. It reads what the legs left in the session's tables.
    """
    nearest = store.value(_SEARCH.best_cosine)
    if nearest is not None and (level is None or nearest >= level):
        return True
    words = [[term.term for term in token] for token in tokens if not is_stop_word(token[0].form, languages)]
    term_ids = [stable_id(term) for word in words for term in word]
    found = store.rows(_SEARCH.term_frequencies, term_ids=term_ids)
    if nearest is None:
        return bool(found)
    known = {term_id for term_id, _, _ in found}
    everything = all(any(stable_id(term) in known for term in word) for word in words)
    rare = any(df <= max(_RARE_LEAST, _RARE_SHARE * chunk_count) for _, df, chunk_count in found)
    return rare or (bool(words) and everything)
