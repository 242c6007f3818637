"""The command line: parses, calls, and is the one place where an outcome becomes an exit code."""

import contextlib
import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Annotated, Any

import typer

from ragx import __version__
from ragx.cli import (
    agents,
    config,
    consent,
    doctor,
    evaluate,
    export,
    index,
    init,
    inspect,
    query,
    similar,
    sql_query,
    status,
    tune,
)
from ragx.cli.common import (
    Directory,
    Quiet,
    emit_json,
    one_line,
    say,
    set_quiet,
    settings_in_force,
    show_help,
)
from ragx.config import MACHINE_FILE, PROJECT_FILE
from ragx.errors import ConsentNeeded, RagxError
from ragx.render.terminal import visible

app = typer.Typer(
    name="ragx",
    help="Index a tree of files into one DuckDB file and search it.",
    epilog="Exit codes: 0 results, 1 success but empty, 2 error.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (
    init,
    index,
    query,
    similar,
    status,
    inspect,
    sql_query,
    export,
    evaluate,
    tune,
    config,
    doctor,
    agents,
):
    command.register(app)


@app.callback(invoke_without_command=True)
def ragx(
    context: typer.Context,
    directory: Directory = None,
    quiet: Quiet = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version and the models in force.")] = False,
) -> None:
    if version:
        _print_version()
        raise typer.Exit
    if context.invoked_subcommand is None:
        show_help(context)


def _print_version() -> None:
    print(f"ragx {__version__}")
    loaded = settings_in_force(None)
    rerank, sources = loaded.config.rerank, loaded.sources
    print(visible(f"embeddings: {loaded.config.embeddings.model} ({sources['embeddings.model']})"))
    print(visible(f"reranker: {rerank.model} ({sources['rerank.model']})") if rerank.enabled else "reranker: off")
    project = loaded.root / PROJECT_FILE if loaded.root else None
    files = [str(project)] if project and project.exists() else []
    files += [MACHINE_FILE] if MACHINE_FILE in sources.values() else []
    print(visible(f"config: {', '.join(files) or 'defaults'}"))


class _WithoutPandas(MetaPathFinder):
    """Hides pandas: DuckDB imports it where a parameter is bound, half a second of a command that has no use for it."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)


def main() -> None:
    """Runs the command line of this process and ends it."""
    sys.meta_path.insert(0, _WithoutPandas())
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code: 0 results, 1 success but empty, 2 error, 130 interrupted."""
    _prepare_streams()
    set_quiet(False)
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    code = 0
    try:
        code = _invoke(arguments, as_json)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = _interrupted()
    except BrokenPipeError:
        pass  # whoever read stdout has seen enough
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            # DuckDB reports Ctrl-C during a query as a RuntimeError of its own.
            code = _interrupted()
        elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            # Whatever writes a file names it.
            message = f"cannot write {error.filename or 'stdout'}: {os.strerror(error.errno)}"
            code = _fail("ragx", "disk_full", message, "free some space and run it again", as_json)
        else:
            # Python's own exit code for this, 1, would read as "nothing found".
            say(traceback.format_exc().rstrip())
            code = _report("bug", f"{type(error).__name__}: {error}", "", as_json)
    finally:
        _settle_streams()
    return code


def _invoke(arguments: Sequence[str], as_json: bool) -> int:
    try:
        _execute(arguments)
        return 0
    except typer.Exit as end:
        return end.exit_code
    except RagxError as error:
        return _fail("ragx", error.code, error.message, error.hint, as_json, error.exit_code)
    except typer.TyperException as error:
        failed = getattr(error, "ctx", None)
        path = failed.command_path if failed else _command_path(arguments)
        message = one_line(error.format_message()).removesuffix(".")
        message = (message[:1].lower() + message[1:]).replace("no such option: ", "no such option ")
        return _fail(path, "usage", message, f"{path} --help", as_json)


def _execute(arguments: Sequence[str]) -> None:
    """Runs the command, and once more each time that the user allows what it stopped for."""
    command = typer.main.get_command(app)
    start = None
    try:
        with contextlib.suppress(FileNotFoundError):
            start = os.getcwd()
        with command.make_context("ragx", list(arguments)) as context:
            command.invoke(context)
    except ConsentNeeded as needed:
        if not consent.is_given(needed):
            raise
        # -C went to its folder.
        if start is not None:
            os.chdir(start)
        _execute(arguments)


def _command_path(arguments: Sequence[str]) -> str:
    """The command that the arguments name, as one types it."""
    path = "ragx"
    command: Any = typer.main.get_command(app)
    for name in arguments:
        if name in getattr(command, "commands", {}):
            path, command = f"{path} {name}", command.commands[name]
    return path


def _fail(who: str, code: str, message: str, hint: str, as_json: bool, exit_code: int = 2) -> int:
    # A hint is a command, or words of another kind.
    remedy = f"; run: {hint}" if hint.startswith("ragx ") else f"; {hint}" if hint else ""
    say(one_line(f"{who}: {message}{remedy}"))
    return _report(code, message, hint, as_json, exit_code)


def _report(code: str, message: str, hint: str, as_json: bool, exit_code: int = 2) -> int:
    if as_json:
        # A stdout that cannot be written is what failed, or ends with the command anyway.
        with contextlib.suppress(OSError):
            emit_json({"schema": "ragx.error.v1", "code": code, "message": message, "hint": hint})
    return exit_code


def _interrupted() -> int:
    say("interrupted")
    return 130


def _prepare_streams() -> None:
    """Lets every character be printed in any locale, and gives a closed stream somewhere to go."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # The next file to be opened, the index perhaps, must not become standard output.
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _settle_streams() -> None:
    """Flushes what is left; a stream that nobody reads any more is turned away, so that Python's exit stays silent."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
