"""What its user allows a corpus, whose ragx.toml may have come with somebody else's repository.

It is noted on the machine, in the user's state folder, where no repository can bring it. A note names the corpus by
its real path: a moved corpus is asked about anew. What ~/.ragxrc says needs no note.
"""

import json
import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragx.config.address import address
from ragx.config.edit import write
from ragx.config.load import home, read_text
from ragx.errors import ConfigError, ConsentNeeded
from ragx.parsing import from_json


@dataclass(frozen=True)
class Wish:
    """What a setting of ragx.toml asks for, as it is noted, and the setting whose `config set` allows it."""

    note: str
    """`server https://host`, `variable NAME` or `model /folder`."""
    setting: str
    value: str


def require(corpus: Path, wishes: Iterable[Wish], what: str) -> None:
    """ConsentNeeded where the user has not allowed one of the wishes; `what` says after "asks to" what comes of it."""
    missing = missing_of(corpus, wishes)
    if missing:
        # Wherever it is run: what is allowed is allowed to this corpus.
        there = f"-C {shlex.quote(str(corpus))}"
        commands = (f"ragx config set {wish.setting} {shlex.quote(wish.value)} {there}" for wish in missing)
        raise ConsentNeeded(
            f"ragx.toml asks to {what}, which you have not allowed",
            " && ".join(commands),
            corpus=corpus,
            notes=tuple(wish.note for wish in missing),
            question=f"The ragx.toml in {corpus} asks to {what}. Allow it?",
        )


def missing_of(corpus: Path, wishes: Iterable[Wish]) -> Sequence[Wish]:
    """Those of the wishes that the user has not allowed."""
    asked = list(wishes)
    allowed = _notes().get(_name(corpus), ()) if asked else ()
    return [wish for wish in asked if wish.note not in allowed]


def allow(corpus: Path, notes: Iterable[str]) -> tuple[str, ...]:
    """Notes what the user allows the corpus; gives what was not noted before. ConfigError: it cannot be noted."""
    path, known = _file(), _notes()
    before = known.get(_name(corpus), [])
    new = tuple(note for note in notes if note not in before)
    if new:
        if path is None:
            raise ConfigError("neither HOME nor XDG_STATE_HOME is set, so what you allow cannot be noted")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot make the folder {path.parent}: {error.strerror}", _ELSEWHERE) from error
        known[_name(corpus)] = [*before, *new]
        write(path, json.dumps(known, indent=1, sort_keys=True) + "\n", private=True)
    return new


def allow_setting(corpus: Path, name: str, value: Any) -> tuple[str, ...]:
    """Notes what the user allows by setting `name` to `value` for a corpus; as `allow`."""
    section, key = name.split(".")
    if key == "base_url" and (place := address(value)):
        return allow(corpus, [f"server {place}"])
    if key == "api_key_env" and value:
        return allow(corpus, [f"variable {value}"])
    if key == "model" and section in ("embeddings", "rerank") and (folder := model_folder(value, corpus)):
        return allow(corpus, [model_wish(name, value, folder).note])
    return ()


def model_folder(model: str, corpus: Path) -> Path | None:
    """The folder that the setting of a model names, `./` relative to the corpus; None where it is a model's name.

    A folder is absolute, or begins with `~` or `./`.
    """
    if not (model.startswith(("~", "./", ".\\")) or Path(model).is_absolute()):
        return None
    try:
        return corpus / Path(model).expanduser()
    except RuntimeError:  # no home directory
        return corpus / model


def model_wish(setting: str, model: str, folder: Path) -> Wish:
    """The wish to load the model in `folder`."""
    return Wish(f"model {os.path.realpath(folder)}", setting, model)


_ELSEWHERE = "name a folder that can be written in XDG_STATE_HOME"


def _file() -> Path | None:
    base = os.environ.get("XDG_STATE_HOME", "")
    # A relative one is void, says its specification; it would lie in a corpus.
    if not os.path.isabs(base):
        base = os.path.join(home(), ".local", "state") if home() else ""
    return Path(base, "ragx", "consent.json") if base else None


def _notes() -> dict[str, list[str]]:
    path = _file()
    if path is None or not (text := read_text(path)):
        return {}
    try:
        notes = from_json(text)
        return {str(corpus): [str(note) for note in allowed] for corpus, allowed in notes.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise ConfigError(f"{path} is damaged", f"rm {shlex.quote(str(path))}, and allow anew what is asked") from error


def _name(corpus: Path) -> str:
    return os.path.realpath(corpus)
