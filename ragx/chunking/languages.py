"""The table of programming languages."""

from ragx.chunking.grammar import (
    ARGUMENTS,
    BACKTICK,
    C_COMMENT,
    CLOSERS,
    DOUBLE,
    HASH_COMMENT,
    LONG_DOUBLE,
    LONG_SINGLE,
    SINGLE,
    Grammar,
    hidden,
)

_LEAD = rf"(?:@(?!interface\b)[\w.$]++\s*+(?:{ARGUMENTS}\s*+)?)++$|@[\w.$]++\((?:[^()]*+$|.*[({{\[,]$)"
_LEAD_BRACKETS = r"(?:\[[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+\]\s*+)++$|\[[^\]]*+$"

_JAVA_PREFIX = (
    rf"(?:@(?!interface\b)[\w.]++\s*+(?:{ARGUMENTS}\s*+)?|\[[^\[\]]*+\]\s*+"
    r"|(?:public|private|protected|internal|static|final|abstract|sealed|non-sealed"
    r"|strictfp|default|synchronized|native|transient|volatile|virtual|override|async|extern|unsafe|partial"
    r"|readonly|new|data|open|inline|suspend|operator|tailrec|implicit|lazy|case|inner|companion|annotation|value"
    r"|mutating|indirect|fileprivate|required|convenience|ref|file|external)\b\s*+)*+"
)

_JS_WORDS = (
    r"(?:(?:export|default|declare|abstract|async|public|private|protected|static|override|readonly|get|set)"
    r"\s++(?![(=:]))*+"
)
_JS_KEYWORDS = r"(?:if|for|while|switch|catch|with|return|function|await|typeof|new|super|do|else|throw|yield|import)\b"
_C_KEYWORDS = r"(?:if|for|while|switch|catch|return|else|do|case|using|delete|throw|sizeof|static_assert)\b"

_RUST_PUBLIC = r"(?:#\[[^\[\]]*+\]\s*+)*+(?:pub\b\s*+(?:\([^()]*+\)\s*+)?)?"

_C_SKIPPED = rf"(?!{_C_KEYWORDS})(?:template\s*+<[^{{}};]*?>\s*+)?(?:__\w++\s*+\(\([^()]*+\)\)\s*+)*+"
_C_VALUE = r"[^(){};=#]*?\b(?P<name2>\w++)\s*+(?:\[[^\]]*+\]\s*+)*+="
_C_DEFINE = r"#\s*+define\s++(?P<name>\w++)"
_C_GOES_ON = CLOSERS + r"|#\s*+(?:else|elif|endif)\b|(?:else|while)\b|\w++\s*+:(?!:)"
# A return type on a line of its own.
_C_UNFINISHED = r"(?!#)[^;{}]*[\w*&>]$"

_SQL_OBJECT = (
    r"(?:(?:or\s++replace|temp|temporary|unique|materialized|recursive|unlogged|global|local|external|persistent|secret"
    r"|editionable|clustered|nonclustered|concurrently|constraint|aggregate|foreign)\s++)*+"
    r"(?:table|view|function|procedure|proc|trigger|index|type|macro|schema|sequence|domain|extension|policy|role"
    r"|database|event|package(?:\s++body)?|operator|rule|server|user)\s++"
)
_SQL_WORD = r"""(?:[\w$]++|"[^"]*+"|`[^`]*+`|\[[^\]]*+\])"""
_SQL_NAME = rf"(?:if\s++(?:not\s++)?exists\s++)?(?:concurrently\s++)?(?P<name>{_SQL_WORD}(?:\s*+\.\s*+{_SQL_WORD})*+)"

GRAMMARS: dict[str, Grammar] = {
    "python": Grammar(
        tokens=hidden(HASH_COMMENT, LONG_DOUBLE, LONG_SINGLE, DOUBLE, SINGLE),
        types=r"class\s++(?P<name>\w++)",
        functions=r"(?:async\s++)?def\s++(?P<name>\w++)",
        lead=r"@",
        goes_on=r"[)\]}]|(?:else|elif|except|finally)\b",
    ),
    "javascript": Grammar(
        tokens=hidden(
            C_COMMENT,
            BACKTICK,
            DOUBLE,
            SINGLE,
            # A slash where a value is expected begins a regular expression.
            r"(?:(?<=[(,=:\[!&|?{};\n])|(?<=return))[ \t]*+/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\]?)*+/?",
        ),
        types=_JS_WORDS + r"(?:class|interface|(?:const\s++)?enum|namespace|module)\s++(?!extends\b)(?P<name>[\w$.]++)",
        functions=(
            _JS_WORDS + r"(?:function\b\s*+\*?\s*+(?P<name1>[\w$]*+)"
            r"|(?:const|let|var)\s++(?P<name2>[\w$]++)"
            r"|type\s++(?P<name3>[\w$]++)\s*+[<=]"
            r"|(?P<name4>[\w$]++(?:\.[\w$]++)++)\s*+=(?!=)"
            r"|(?:describe|it|test|suite|context)(?:\.\w++)*+\s*+\(\s*+(?P<name5>\"_*+\"|'_*+'|`_*+`)"
            rf"|\*?\s*+(?!{_JS_KEYWORDS})(?P<name6>#?[\w$]++)\s*+(?:<[^<>(){{}}]*+>)?{ARGUMENTS}\s*+(?::[^{{;=]*+)?\{{"
            r"|(?P<name7>[\w$]++|\"_*+\"|'_*+')\s*+[:=]\s*+(?:async\b\s*+)?(?:function\b|\(|[\w$]++\s*+=>)"
            r")"
        ),
        members=(rf"{_JS_WORDS}\*?\s*+(?P<name>#?[\w$]++|\[[^\]]*+\])\s*+[?!]?\s*+(?:<[^<>(){{}}]*+>)?\s*+\("),
        lead=_LEAD,
        goes_on=CLOSERS + r"|[.,;?:&|=+*]|(?:else|catch|finally)\b",
    ),
    "go": Grammar(
        tokens=hidden(C_COMMENT, r"`[^`]*+`?", DOUBLE, SINGLE),
        types=r"type\s++(?P<name>\w++)\s*+(?:\[[^\]]*+\]\s*+)?(?:struct|interface)\b",
        functions=(
            r"func\s++(?:\(\s*+(?:\w++\s++)?\*?\s*+(?P<owner>\w++)(?:\[[^\]]*+\])?\s*+\)\s*+)?(?P<name1>\w++)"
            r"|(?:var|const|type)\s++(?P<name2>\w++)"
        ),
        goes_on=CLOSERS + r"|\w++:$",
    ),
    "rust": Grammar(
        tokens=hidden(
            C_COMMENT,
            r'\bb?r(?P<hashes>#{0,16})"[\s\S]*?(?:"(?P=hashes)|\Z)',
            r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"?',
            r"'(?:[^'\\\n]|\\(?:u\{[^}\n]{0,8}\}|x..|.))'",
        ),
        types=(
            rf"{_RUST_PUBLIC}(?:unsafe\s++|auto\s++|default\s++)*+"
            r"(?:(?:trait|struct|enum|union|mod)\s++(?P<name1>\w++)"
            r"|impl\b(?:[^{;]*?\bfor\s++(?!<)|\s*+(?:<(?:[^<>{;]++|<(?:[^<>{;]++|<[^<>{;]*+>)*+>)*+>)?\s*+)"
            r"[&!]?(?:'\w++\s++)?(?:mut\s++|dyn\s++)?(?:\w++::)*+(?P<name2>\w++))"
        ),
        functions=(
            rf"{_RUST_PUBLIC}(?:(?:default|const|async|unsafe|extern(?:\s*+\"_*+\")?)\s++)*+fn\s++(?P<name1>\w++)"
            rf"|macro_rules!\s*+(?P<name2>\w++)|{_RUST_PUBLIC}(?:static|const|type|macro)\s++(?:mut\s++)?(?P<name3>\w++)"
        ),
        lead=r"(?:#!?\[[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+\]\s*+)++$|#!?\[[^\]]*+$",
        goes_on=CLOSERS + r"|where\b|else\b|[.]",
    ),
    "java": Grammar(
        tokens=hidden(C_COMMENT, LONG_DOUBLE, DOUBLE, SINGLE),
        types=_JAVA_PREFIX + r"(?:class|interface|enum|record|@interface)\s++(?P<name>\w++)",
        members=_JAVA_PREFIX + r"[^(){};=]*?\b(?P<name>\w++)\s*+\(",
        lead=_LEAD,
        goes_on=CLOSERS + r"|(?:else|catch|finally|throws|implements|extends|permits)\b|[.&|?:+]",
    ),
    "csharp": Grammar(
        tokens=hidden(C_COMMENT, LONG_DOUBLE, r'(?:@\$?|\$@)"[^"]*+(?:""[^"]*+)*+"?', DOUBLE, SINGLE),
        types=(
            _JAVA_PREFIX
            + r"(?:class|struct|interface|enum|record(?:\s++(?:class|struct))?|namespace)\s++(?P<name>[\w.]++)"
        ),
        members=_JAVA_PREFIX + r"[^(){};=]*?\b(?P<name>\w++)\s*+(?:<[^<>(){}]*+>\s*+)?(?:\(|\{|=>)",
        lead=_LEAD_BRACKETS,
        goes_on=r"[)\]}{:.&|?+]|(?:else|catch|finally|where|get|set)\b|=>",
        loose=r"#",
    ),
    "cpp": Grammar(
        tokens=hidden(
            C_COMMENT,
            r'\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\([\s\S]*?(?:\)(?P=mark)"|\Z)',
            DOUBLE,
            # Between digits it only makes a number readable.
            r"(?<![0-9a-fA-F])" + SINGLE,
        ),
        types=(
            r"(?:template\s*+<[^{};]*?>\s*+)?(?:(?:export|inline|typedef|static|constexpr)\s++)*+"
            r"(?:class|struct|union|enum(?:\s++(?:class|struct))?|namespace)\b\s*+(?:\[\[[^\]]*+\]\]\s*+)?"
            r"(?:[A-Z_0-9]++(?:\([^()]*+\))?\s++)*?(?P<name>[\w:]*+)\s*+(?:final\s*+)?"
            r"(?:<[^;{}()]*>\s*+)?(?::(?!:)[^;{}]*+)?\{|extern\s++\"_*+\"\s*+\{"
        ),
        functions=_C_DEFINE,
        members=(
            rf"{_C_SKIPPED}[^(){{}};=#]*?(?<![\w~])(?:(?P<owner>\w++)(?:<[^<>;{{}}]*+>)?::)?"
            rf"(?P<name1>~?\w++|operator\s*+(?:[^\s\w(]++|\(\)|\w++))\s*+\(|{_C_VALUE}"
        ),
        lead=r"template\b[^;{}(]*>$|\[\[.*\]\]$",
        goes_on=_C_GOES_ON + r"|(?:catch|requires|const)\b|[:,.&|?]",
        loose=r"#|(?:public|private|protected|signals|Q_SIGNALS)\b[\w\s]*:(?!:)",
        unfinished=_C_UNFINISHED,
        declares=True,
    ),
    "ruby": Grammar(
        tokens=hidden(
            r"(?P<comment>^=begin\b[\s\S]*?(?:^=end\b[^\n]*|\Z)|(?<![^\s;])#[^\n]*)",
            r"^__END__$[\s\S]*",
            DOUBLE,
            SINGLE,
            more=r"(?P<heredoc><<[~-]?(?P<quote>[\"'`]?)(?P<tag>[A-Z]\w*+)(?P=quote))",
        ),
        types=r"(?:class|module)\s++(?:\w++::)*+(?P<name>\w++)|class\s*+<<",
        functions=(
            r"(?:(?:private|public|protected|module_function|private_class_method)[ \t]++)?"
            r"def\s++(?:(?:self|\w++)\s*+\.\s*+)?(?P<name1>\w++[?!=]?|[^\s\w(]++)"
            r"|(?:(?:RSpec\.)?describe|context|it|specify|task|namespace|test|feature|scenario|shared_examples)\b\s*+"
            r"\(?\s*+(?P<name2>\"_*+\"|'_*+'|:\w++|[A-Z][\w:]*+)"
            r"|(?P<name3>[A-Z]\w*+)\s*+=(?!=)"
        ),
        goes_on=r"[)\]}.&|]|(?:end|else|elsif|rescue|ensure|when|in|then)\b",
    ),
    "shell": Grammar(
        tokens=hidden(
            r"(?P<comment>(?<![^\s;&|(])#[^\n]*)",
            r"\\[\s\S]",
            r"\$'[^'\\]*+(?:\\[\s\S][^'\\]*+)*+'?",
            r"'[^']*+'?",
            r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"?',
            more=r"(?P<heredoc>(?<!<)<<(?!<)-?[ \t]*+\\?(?P<quote>[\"']?)(?P<tag>[A-Za-z_]\w*+)(?P=quote))",
        ),
        functions=r"function\s++(?P<name1>[\w:.-]++)|(?P<name2>[\w:.-]++)\s*+\(\s*+\)",
        goes_on=CLOSERS + r"|(?:then|do|else|elif|fi|done|esac)\b|[|&]",
        unfinished=r".*(?:\\|\||&&)$",
    ),
    "sql": Grammar(
        tokens=hidden(
            r"(?P<comment>--[^\n]*|/\*[\s\S]*?(?:\*/|\Z))",
            r"'[^']*+'?",
            r'"[^"\n]*+"?',
            r"`[^`\n]*+`?",
            r"\$(?P<mark>(?:[A-Za-z_]\w*+)?)\$[\s\S]*?(?:\$(?P=mark)\$|\Z)",
        ),
        functions=(
            rf"(?i:(?:create|alter|drop|replace)\s++{_SQL_OBJECT}{_SQL_NAME}"
            r"|insert\s++into\s++(?P<name1>[\w.]++)|with\s++(?P<name2>\w++)\s++as\b)"
        ),
        goes_on=r"(?i:[)\],]|(?:end|begin|as|union|except|intersect)\b)",
        unfinished=r"(?i:(?!(?:go|/|\\.*|delimiter\b.*)$).*[^;])$",
        starts=(
            r"(?i:create|alter|drop|insert|update|delete|with|grant|revoke|comment|select|from|copy|set|pragma|explain"
            r"|begin|commit|do|call|use|attach|load|install|declare|vacuum|truncate|merge|prepare|if|\\)"
        ),
    ),
    "braces": Grammar(
        tokens=hidden(C_COMMENT, LONG_DOUBLE, DOUBLE, SINGLE),
        types=(
            rf"{_JAVA_PREFIX}(?:class|interface|object|trait|struct|union|enum(?:\s++class)?|protocol|extension|actor"
            r"|mixin|namespace|service|message|impl)\b\s*+(?:<[^<>]*+>\s*+)?(?P<name>[\w.]*+)"
        ),
        functions=(
            rf"{_JAVA_PREFIX}(?:fun|func|function|def|fn|macro|rpc|type|typealias|input|given|union|scalar)\s++"
            r"(?:<[^<>]*+>\s*+)?(?:(?P<owner>[A-Z]\w*+)(?:<[^<>]*+>)?\.)?(?P<name1>&?\w++)"
            rf"|{_JAVA_PREFIX}(?:val|var|let|const)\s++(?P<name2>\w++)"
        ),
        members=_JAVA_PREFIX + r"[^(){};=]*?\b(?P<name>\w++)\s*+\(",
        lead=_LEAD,
        goes_on=CLOSERS + r"|(?:else|catch|finally|where|extends|with|implements)\b|[.&|?:+]",
    ),
}
"""By kind of file. "braces" serves the languages that are written like Java."""

GRAMMARS["typescript"] = GRAMMARS["javascript"]
GRAMMARS["c"] = GRAMMARS["cpp"]
GRAMMARS |= dict.fromkeys(("kotlin", "scala", "swift", "dart", "php", "groovy", "zig", "proto"), GRAMMARS["braces"])
