"""Names what a file holds by its name alone, whatever its case: the kind picks the chunker and serves as a filter."""

_SUFFIXES: dict[str, tuple[str, ...]] = {
    "markdown": (".md", ".mdx", ".markdown", ".mdown", ".mkd"),
    "text": (".txt", ".text", ".log"),
    "rst": (".rst", ".rest"),
    "asciidoc": (".adoc", ".asciidoc"),
    "org": (".org",),
    "html": (".html", ".htm", ".xhtml"),
    "notebook": (".ipynb",),
    "latex": (".tex", ".bib"),
    "python": (".py", ".pyi", ".pyw"),
    "javascript": (".js", ".jsx", ".mjs", ".cjs"),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "vue": (".vue",),
    "svelte": (".svelte",),
    "go": (".go",),
    "rust": (".rs",),
    "java": (".java",),
    "kotlin": (".kt", ".kts"),
    "scala": (".scala",),
    "groovy": (".groovy", ".gradle"),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp"),
    "objc": (".m", ".mm"),
    "csharp": (".cs",),
    "fsharp": (".fs", ".fsx", ".fsi"),
    "vb": (".vb",),
    "ruby": (".rb", ".rake", ".gemspec"),
    "php": (".php",),
    "perl": (".pl", ".pm"),
    "lua": (".lua",),
    "r": (".r", ".rmd"),
    "julia": (".jl",),
    "swift": (".swift",),
    "dart": (".dart",),
    "elixir": (".ex", ".exs"),
    "erlang": (".erl", ".hrl"),
    "haskell": (".hs", ".lhs"),
    "ocaml": (".ml", ".mli"),
    "clojure": (".clj", ".cljs", ".cljc", ".edn"),
    "lisp": (".lisp", ".lsp", ".el", ".scm", ".rkt"),
    "zig": (".zig",),
    "shell": (".sh", ".bash", ".zsh", ".fish", ".ksh"),
    "powershell": (".ps1", ".psm1", ".psd1"),
    "batch": (".bat", ".cmd"),
    "sql": (".sql",),
    "proto": (".proto",),
    "graphql": (".graphql", ".gql"),
    "terraform": (".tf", ".tfvars", ".hcl"),
    "nix": (".nix",),
    "css": (".css", ".scss", ".sass", ".less"),
    "makefile": (".mk", ".mak"),
    "cmake": (".cmake",),
    "dockerfile": (".dockerfile",),
    "json": (".json", ".jsonl", ".json5", ".jsonc"),
    "yaml": (".yaml", ".yml"),
    "toml": (".toml",),
    "ini": (".ini", ".cfg", ".conf", ".properties"),
    "xml": (".xml", ".xsd", ".xsl", ".svg"),
    "csv": (".csv", ".tsv"),
    "diff": (".diff", ".patch"),
}

_NAMES: dict[str, tuple[str, ...]] = {
    "makefile": ("makefile", "gnumakefile", "bsdmakefile"),
    "dockerfile": ("dockerfile", "containerfile"),
    "cmake": ("cmakelists.txt",),
    "groovy": ("jenkinsfile",),
    "ruby": ("gemfile", "rakefile", "vagrantfile", "brewfile", "podfile"),
    "go": ("go.mod",),
    "python": ("sconstruct", "sconscript"),
}

_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names}

DATA_KINDS = frozenset({"csv", "json", "toml", "xml", "yaml"})
"""Kinds whose large files are records of a machine, not something that a person wrote to be read."""

MARKUP_KINDS = frozenset({"html", "notebook"})
"""Kinds whose files are markup around a text: what is readable of a chunk is less than the chunk."""

KINDS = tuple(sorted({*_SUFFIXES, *_NAMES}))
"""Every kind that a file can have."""


def kind_of(path: str) -> str:
    """The kind of the file at this path, one of KINDS; "text" where the name tells nothing."""
    name = path.rpartition("/")[2].lower()
    stem, dot, suffix = name.rpartition(".")
    return _BY_NAME.get(name) or _BY_SUFFIX.get(dot + suffix) or _BY_NAME.get(stem.partition(".")[0], "text")
