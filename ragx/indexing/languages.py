"""Whether the embedding model reads the corpus."""

from collections.abc import Collection, Mapping

WORTH_A_WARNING = 0.1


def unread_languages(chunks: Mapping[str, int], model: str, readable: Collection[str]) -> str:
    """A sentence with the remedy, where `model` does not read a tenth of the chunks (counted by ISO 639-1 code), or "".

    Chunks whose language cannot be told, code mostly, count as read; so does everything where `readable` is empty.
    """
    foreign = {code: count for code, count in chunks.items() if code and readable and code not in readable}
    share = sum(foreign.values()) / max(1, sum(chunks.values()))
    if share < WORTH_A_WARNING:
        return ""
    codes = ", ".join(sorted(foreign, key=lambda code: (-foreign[code], code))[:5])
    return (
        f"{share:.0%} of the chunks are in a language that {model} does not read ({codes}): only words are found; "
        "for a multilingual model run: ragx config set embeddings.provider ollama, "
        "ragx config set embeddings.model bge-m3, ragx index --full"
    )
