"""References between source files: what a program imports, read off its code without strings and comments."""

import re
from collections.abc import Callable, Iterator

from ragx.chunking.languages import GRAMMARS
from ragx.chunking.lexing import lines_of
from ragx.links.reference import IMPORT, Reference

Finder = Callable[[str, str], Iterator[tuple[int, str]]]
"""From a masked text and the text itself to where each import stands, and what it names."""

_NAMES = r"\((?P<names>[^()]*)\)|(?P<list>[^\n;]*)"
_PYTHON_FROM = re.compile(
    rf"(?:^|[;:])[ \t]*+from[ \t]++(?P<module>[.\w]++)[ \t]++import[ \t]*+(?:{_NAMES})", re.MULTILINE
)
_PYTHON_IMPORT = re.compile(r"(?:^|[;:])[ \t]*+import[ \t]++(?P<modules>[^\n;]++)", re.MULTILINE)
_KEYWORD = re.compile(r"\b(?:import|export|require|use|mod)\b")
_WORD = re.compile(r"[^\W\d]\w*")
_JAVASCRIPT = re.compile(
    r"\b(?:(?:import|export)\b(?:(?!\b(?:import|export)\b)[^'\"`;()=])*?\bfrom|import|require\s*+\(|import\s*+\()"
    r"\s*+(?P<quote>['\"])"
)
_GO_BLOCK = re.compile(r"^import[ \t]*+(?:\((?P<block>[^()]*+)\)|(?P<single>[^\n]*+))", re.MULTILINE)
_GO_PATH = re.compile(r'"[^"\n]*"')
_RUST_MOD = re.compile(r"^[ \t]*+(?:pub(?:\([^()]*+\))?[ \t]++)?mod[ \t]++(?P<name>\w++)[ \t]*+;", re.MULTILINE)
_RUST_USE = re.compile(
    r"^(?P<indent>[ \t]*+)(?:pub(?:\([^()]*+\))?[ \t]++)?use[ \t]++(?P<tree>[^;]{1,5000}+);", re.MULTILINE
)
_RUST_DEEPEST = 32
_RUST_PATH = re.compile(r"(?:crate|self|super)(?:::\w+)*")


def python(code: str, text: str) -> Iterator[tuple[int, str]]:
    for match in _PYTHON_FROM.finditer(code):
        module = match["module"]
        for part in (match["names"] or match["list"] or "").split(","):
            if name := _WORD.search(part):
                yield match.start(), f"{module}{'' if module.endswith('.') else '.'}{name[0]}"
            elif "*" in part:
                yield match.start(), module
    for match in _PYTHON_IMPORT.finditer(code):
        for part in match["modules"].split(","):
            if name := re.match(r"\s*([.\w]+)", part):
                yield match.start(), name[1]


def javascript(code: str, text: str) -> Iterator[tuple[int, str]]:
    for match in _JAVASCRIPT.finditer(code):
        end = code.find(match["quote"], match.end())
        if end > 0 and (target := text[match.end() : end]).startswith((".", "@/", "~/")):
            yield match.start(), target


def go(code: str, text: str) -> Iterator[tuple[int, str]]:
    for match in _GO_BLOCK.finditer(code):
        start, end = match.span("block" if match["block"] is not None else "single")
        for path in _GO_PATH.finditer(code, start, end):
            target = text[path.start() + 1 : path.end() - 1]
            if "." in target.partition("/")[0]:  # the standard library's paths begin with no host
                yield path.start(), target


def rust(code: str, text: str) -> Iterator[tuple[int, str]]:
    for match in _RUST_MOD.finditer(code):
        yield match.start(), f"mod {match['name']}"
    for match in _RUST_USE.finditer(code):
        for path in _use_paths(match["tree"]):
            # In an inline module, `super` is the file itself.
            if _RUST_PATH.fullmatch(path) and (path.startswith("crate") or not match["indent"]):
                yield match.start(), path


def importer(grammar: str, find: Finder) -> Callable[[str], list[Reference]]:
    """Reads the imports of a program in the language of `grammar`, whose line ends are all `\\n`."""
    tokens = re.compile(GRAMMARS[grammar].tokens, re.MULTILINE)

    def read(text: str) -> list[Reference]:
        if not _KEYWORD.search(text):
            return []
        code, _ = lines_of(text, tokens)
        return [Reference(start, IMPORT, target) for start, target in dict.fromkeys(find(code, text))]

    return read


def _use_paths(tree: str) -> Iterator[str]:
    """The paths of a `use` tree: `crate::{a, b::c as d}` names crate::a and crate::b::c."""
    prefixes = [""]
    word = ""
    for token in re.findall(r"[{},]|[^{},]+", re.sub(r"\s+as\s+\w+|\s+", "", tree)):
        if token == "{":
            if len(prefixes) > _RUST_DEEPEST:
                return
            prefixes.append(prefixes[-1] + word)
            word = ""
        elif token in ",}":
            if word:
                yield (prefixes[-1] + word).removesuffix("::*").removesuffix("::self")
                word = ""
            if token == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            word = token
    if word:
        yield (prefixes[-1] + word).removesuffix("::*").removesuffix("::self")
