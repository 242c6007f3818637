"""`ragx doctor`: tries every part that is set up; exit code 2 where one does not work."""

from dataclasses import asdict

import typer

from ragx.cli.common import Directory, Json, Quiet, emit_json, open_corpus, talk
from ragx.render.terminal import visible


def doctor(json: Json = False, directory: Directory = None, quiet: Quiet = False) -> None:
    """Try the index and each model that is set up, and say what does not work."""
    corpus = open_corpus(directory)

    from ragx.checkup import check

    checks = check(corpus.root, corpus.config, talk)
    failed = any(each.state == "failed" for each in checks)
    if json:
        emit_json({"schema": "ragx.doctor.v1", "ok": not failed, "checks": [asdict(each) for each in checks]})
    else:
        for each in checks:
            print(visible(f"{each.state:<6}  {each.name:<10}  {'; '.join(filter(None, (each.detail, each.hint)))}"))
    if failed:
        raise typer.Exit(2)


def register(app: typer.Typer) -> None:
    """Adds `doctor` to the command line."""
    app.command("doctor")(doctor)
