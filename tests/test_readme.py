"""README.md is true: its generated parts are current, and every command is documented."""

import os
import re
import subprocess
import sys
from pathlib import Path

from ragx.config.settings import SETTINGS, Setting
from ragx.store import cookbook, create_building

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
CHANGE = {"query": "query", "files": "index", "graph": "index", "vectors": "index", "full": "full"}


def settings_table() -> str:
    rows = ["| setting | default | change | meaning |", "|---|---|---|---|"]
    for row in SETTINGS.values():
        rows.append(f"| `{row.name}` | {shown(row)} | {CHANGE[row.rule.effect]} | {meaning(row)} |")
    return "\n".join(rows)


def shown(row: Setting) -> str:
    if isinstance(row.default, tuple):
        return f"{len(row.default)} globs" if row.default else ""
    if row.default is None:
        return "`auto`"
    if row.default == "":
        return ""
    return f"`{str(row.default).lower() if isinstance(row.default, bool) else row.default}`"


def meaning(row: Setting) -> str:
    rule = row.rule
    bounds = f" ({rule.low} to {rule.high})" if rule.low is not None and rule.high is not None else ""
    choices = f" ({', '.join(rule.choices)})" if rule.choices else ""
    return (rule.help + bounds + choices).replace("|", "\\|")


def schema_tables(tmp_path: Path) -> str:
    with create_building(tmp_path / "index.duckdb", 3) as store:
        run = store.connection.execute
        tables = run("SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal ORDER BY table_oid").fetchall()
        columns = run(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal "
            "AND schema_name = 'main' ORDER BY table_oid, column_index"
        ).fetchall()
        views = run("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal ORDER BY view_oid").fetchall()
        macros = run(
            "SELECT function_name, parameters FROM duckdb_functions() "
            "WHERE function_type IN ('macro', 'table_macro') AND schema_name = 'main' AND NOT internal "
            "ORDER BY function_oid"
        ).fetchall()
    parts = []
    for table, comment in tables:
        parts += [f"**`{table}`**: {comment}", "", "| column | type | meaning |", "|---|---|---|"]
        for owner, column, kind, note in columns:
            if owner == table:
                kind = "embedding" if kind == "FLOAT[3]" else kind
                parts.append(f"| `{column}` | {kind} | {note or ''} |")
        parts.append("")
    parts += ["| view or macro | gives |", "|---|---|"]
    parts += [f"| `{view}` | {comment} |" for view, comment in views]
    parts += [f"| `{name}({', '.join(parameters)})` | {MACROS[name]} |" for name, parameters in macros]
    return "\n".join(parts)


MACROS = {
    "neighbors_of": "the chunks that a chunk has edges to, strongest first",
    "similar_to": "the `k` nearest chunks by cosine",
    "keyword_search": "the `k` best chunks for plain words, by BM25",
    "backlinks": "which lines of other files link to the file at `path`, import it or mention it",
    "hubs": "the `k` chunks with the most edges, similar ones of at least `min_weight`",
    "orphans": "the chunks without a similar edge of at least `min_weight`, of files without a link from or to another",
    "near_duplicates": "pairs of chunks with at least this cosine, copies first",
    "bridges": "the `k` strongest edges of a kind between files of different folders",
    "heat_from": "where heat from a chunk gets to in `hops` steps of heat x weight x `decay`; the hottest way counts",
    "find_chunk": "the id of the chunk at `'PATH:LINE'`; an id stays what it is",
}


def cookbook_table() -> str:
    rows = ["| name | what | parameters |", "|---|---|---|"]
    for recipe in cookbook().values():
        parameters = ", ".join(f"`{key}={value or '...'}`" for key, value in recipe.parameters.items())
        rows.append(f"| `@{recipe.name}` | {recipe.what} | {parameters} |")
    return "\n".join(rows)


def with_part(page: str, name: str, text: str) -> str:
    pattern = re.compile(rf"(<!-- {name}: [^\n]* -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    assert len(pattern.findall(page)) == 1
    return pattern.sub(lambda match: f"{match[1]}{text}\n{match[2]}", page)


def test_generated_parts_are_current(tmp_path: Path) -> None:
    page = README.read_text(encoding="utf-8")
    current = with_part(with_part(page, "settings", settings_table()), "schema", schema_tables(tmp_path))
    current = with_part(current, "cookbook", cookbook_table())
    if os.environ.get("RAGX_UPDATE"):
        README.write_text(current, encoding="utf-8")
        return
    assert page == current, "RAGX_UPDATE=1 pytest tests/test_readme.py brings it up to date"


def test_every_claim_of_safety_names_tests_that_exist() -> None:
    section = README.read_text(encoding="utf-8").partition("\n### What is defended\n")[2].partition("\n## ")[0]
    claims = re.findall(r"^\| ([A-Z`].+) \| (.+) \|$", section, re.MULTILINE)
    assert len(claims) > 10
    for claim, tests in claims:
        named = re.findall(r"`(\w+\.py)::(\w+)`", tests)
        assert named and len(named) == tests.count("`") // 2, claim
        for file, test in named:
            assert f"\ndef {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), (claim, test)


def test_every_command_is_documented() -> None:
    shown = subprocess.run([sys.executable, "-m", "ragx", "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  (\w+)  ", shown[shown.index("Commands") :], re.MULTILINE)
    assert commands
    page = README.read_text(encoding="utf-8")
    assert [command for command in commands if f"`ragx {command}" not in page] == []
