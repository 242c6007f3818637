"""Files of a Hugging Face repository: out of the cache without any request, else downloaded once."""

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ragx.errors import ModelError

_STEP = 10  # percent between two lines of progress
_LARGE = 10_000_000  # bytes from which a file's progress is worth a line


def fetch(repo: str, paths: Sequence[str], announce: Callable[[str], None]) -> list[Path]:
    """The files on disk, in order; ModelError where they are not cached and cannot be had.

    `HF_HOME`, `HF_ENDPOINT`, `HF_HUB_OFFLINE` and `HF_TOKEN` are honoured.
    """
    # Its telemetry asks the hub how to name the program that runs it.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    # 130 ms, and only those need it who have no bundled weights.
    import huggingface_hub as hub

    # Not hf_hub_download(local_files_only=True), which may do a request for the sake of its user agent.
    cached = [hub.try_to_load_from_cache(repo, path) for path in paths]
    found = [Path(path) for path in cached if isinstance(path, str)]
    if len(found) == len(paths):
        return found
    if not hub.constants.HF_HUB_OFFLINE:
        announce(f"downloading {repo} from {hub.constants.ENDPOINT}")
    try:
        # Fails at once where the hub is out of reach; hf_hub_download tries for 23 s.
        hub.get_hf_file_metadata(hub.hf_hub_url(repo, paths[0]))
        return [
            Path(hub.hf_hub_download(repo, path, tqdm_class=_progress(f"{repo}/{path}", announce))) for path in paths
        ]
    # The library raises what its HTTP client raises, and that is another one in each of its major versions.
    except Exception as error:
        raise ModelError(f"cannot get {repo} from {hub.constants.ENDPOINT}: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    # The library wraps a refused connection into several lines of advice.
    while error.__cause__ is not None:
        error = error.__cause__
    if type(error).__name__ == "OfflineModeIsEnabled":
        return "HF_HUB_OFFLINE is set, and it is not in the cache"
    return str(error).partition("\n")[0] or type(error).__name__


def _progress(label: str, announce: Callable[[str], None]) -> Any:
    """A tqdm class that draws no bar and announces every tenth of a large file instead."""
    from tqdm import tqdm  # type: ignore[import-untyped]  # huggingface_hub brings it, and it has no types

    class Progress(tqdm):  # type: ignore[misc]  # a base without types
        monitor_interval = 0  # no thread of its own

        def __init__(self, *args: Any, **options: Any) -> None:
            self.announced = 0
            options.pop("name", None)  # huggingface_hub's own, which tqdm refuses
            super().__init__(*args, **options | {"disable": False, "file": io.StringIO()})

        def display(self, *args: Any, **options: Any) -> None:
            if not self.total or self.total < _LARGE:
                return
            percent = int(100 * self.n / self.total) // _STEP * _STEP
            if percent > self.announced:
                self.announced = percent
                announce(f"{label}: {percent} % of {self.total / 1e6:.0f} MB")

    return Progress
