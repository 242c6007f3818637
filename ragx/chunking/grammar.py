"""The one shape in which a language says how it spells strings, comments, statements and definitions."""

from dataclasses import dataclass

NEVER = r"(?!)"


@dataclass(frozen=True, slots=True)
class Grammar:
    """Patterns, compiled where they are used; all but `tokens` are matched at the start of a masked line.

    A definition's name is in a group `name`, or in one of `name1`, `name2`, ...; it may have none. `owner` is the type
    that a method belongs to which stands outside of it.
    """

    tokens: str = ""
    """Strings and comments, as `lexing.lines_of` wants them."""

    types: str = NEVER
    """Definitions that hold others: classes, traits, modules."""

    functions: str = NEVER
    """Other definitions."""

    members: str = NEVER
    """Other definitions within a type, where no calls stand."""

    lead: str = NEVER
    """Lines that belong to the statement that follows: decorators, attributes."""

    goes_on: str = NEVER
    """Lines that belong to the statement before them, however little they are indented."""

    loose: str = NEVER
    """Lines whose indentation means nothing and which belong to what follows: preprocessor lines, access labels."""

    unfinished: str = NEVER
    """The last line of a statement that goes on in the next line."""

    starts: str = ""
    """What begins a statement after a blank line although the one before looks unfinished; by default anything does."""

    headers: bool = False
    """A line `[name]` begins a statement that holds all up to the next such line."""

    dashes: bool = False
    """A line that starts with a dash counts as indented deeper than one that does not."""

    declares: bool = False
    """There are no calls outside of functions, so `members` are looked for at the top level too."""


CLOSERS = r"[)\]}{]"

C_COMMENT = r"(?P<comment>//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))"
HASH_COMMENT = r"(?P<comment>#[^\n]*)"
DOUBLE = r'"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+"?'
SINGLE = r"'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'?"
# A second look for a mark that is not there would take quadratic time, so each pattern takes what is never closed.
LONG_DOUBLE = r'"""[^"\\]*+(?:(?:\\[\s\S]|"(?!""))[^"\\]*+)*+(?:"""|\Z)?'
LONG_SINGLE = r"'''[^'\\]*+(?:(?:\\[\s\S]|'(?!''))[^'\\]*+)*+(?:'''|\Z)?"
BACKTICK = r"`[^`\\]*+(?:\\[\s\S][^`\\]*+)*+`?"

ARGUMENTS = r"\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)"


def hidden(comment: str, *strings: str, more: str = "") -> str:
    """The pattern of all that `lexing.lines_of` hides."""
    return "|".join(part for part in (more, comment, f"(?P<string>{'|'.join(strings)})") if part)
