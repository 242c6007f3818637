"""The table of data formats whose lines show what belongs together."""

from ragx.chunking.grammar import C_COMMENT, DOUBLE, HASH_COMMENT, LONG_DOUBLE, Grammar, hidden

GRAMMARS: dict[str, Grammar] = {
    "yaml": Grammar(
        tokens=hidden(r"(?P<comment>(?<!\S)#[^\n]*)", DOUBLE, r"(?<![^\s\[{,:-])'[^'\n]*+'?"),
        types=r"""(?P<name>"_*+"|'_*+'|[^\s\-:,\[\]{}#&*!|>'"%@`](?:[^:#\n]|:(?!\s))*+):(?=\s|$)|-\s""",
        goes_on=r"[)\]}]",
        dashes=True,
    ),
    "toml": Grammar(
        tokens=hidden(HASH_COMMENT, LONG_DOUBLE, r"'''[\s\S]*?(?:'''|\Z)", DOUBLE, r"'[^'\n]*+'?"),
        types=r"\[\[?\s*+(?P<name1>[^\]]*+)\]|(?P<name2>[\w.-]++)\s*+=",
        goes_on=r"[)\]}]",
        headers=True,
    ),
    "ini": Grammar(
        tokens=r"(?P<comment>^[ \t]*+[#;][^\n]*)",
        types=r"\[(?P<name1>[^\]]*+)\]|(?P<name2>[\w.-]++)\s*+[=:]",
        headers=True,
    ),
    "json": Grammar(
        tokens=hidden(C_COMMENT, DOUBLE),
        types=r"(?P<name>\"_*+\")\s*+:|[\[{]",
        goes_on=r"[)\]}]",
    ),
}
