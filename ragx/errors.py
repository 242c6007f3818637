"""Every error that a user can cause or mend.

    RagxError              exit 2, one line on stderr: what is wrong, and the command that mends it
    ├── UsageError         a bad argument, query or path
    ├── ConfigError        a bad, unknown or contradicting setting
    ├── ConsentNeeded      ragx.toml asks for what its user has not allowed
    ├── IndexMissing       no index here yet
    ├── IndexUnusable      damaged, unfinished, of another version, or built with other settings
    │   └── IndexForeign   something else stands in its place: no run of ragx replaces that
    ├── IndexLocked        another process is indexing, or holds the file open for writing
    ├── DiskFull           no room for the index; what was embedded until then is kept
    └── ModelError         weights missing, not the expected ones, or a server that does not answer as it should

Anything else that escapes is a bug and keeps its traceback.
"""

from pathlib import Path
from typing import ClassVar


class RagxError(Exception):
    """What is wrong (`message`) and what to run (`hint`, may be empty); `code` names the kind in JSON."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(RagxError):
    code = "usage"


class ConfigError(RagxError):
    code = "config"


class ConsentNeeded(RagxError):
    """The answer yes to `question` is to be noted for `corpus` as `notes` (config.consent)."""

    code = "consent"

    def __init__(self, message: str, hint: str, *, corpus: Path, notes: tuple[str, ...], question: str) -> None:
        super().__init__(message, hint)
        self.corpus = corpus
        self.notes = notes
        self.question = question


class IndexMissing(RagxError):
    code = "no_index"


class IndexUnusable(RagxError):
    code = "index_unusable"


class IndexForeign(IndexUnusable):
    pass


class IndexLocked(RagxError):
    code = "locked"


class DiskFull(RagxError):
    code = "disk_full"


class ModelError(RagxError):
    code = "model"
