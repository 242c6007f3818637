"""Text and query become terms by one tokeniser, and a text's language is told by its stop words."""

from ragx.text.language import detect
from ragx.text.terms import VERSION, Term, is_stop_word, query_terms, stop_terms, terms

__all__ = ["VERSION", "Term", "detect", "is_stop_word", "query_terms", "stop_terms", "terms"]
