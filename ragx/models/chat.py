"""A chat model behind a server: one question, one plain answer, none of its thinking."""

import re
from collections.abc import Callable
from threading import Event
from typing import Any

from ragx.config import server
from ragx.config.settings import Expansion
from ragx.errors import ModelError
from ragx.models.failures import Asking, unusable
from ragx.models.http import Api

MOST_TOKENS = 4096
"""Of an answer, thinking included: models that reason spend thousands before the first word."""

_MOST_BYTES = 1 << 20
_THINKING = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_REFUSED = re.compile(r" answered (400|422):")


class ServedChat:
    """A chat model behind an OpenAI-compatible server (types.Chat). Any number of threads may ask it."""

    def __init__(self, chosen: Expansion, announce: Callable[[str], None]) -> None:
        asking = Asking("expansion", chosen.provider, chosen.model, chosen.api_key_env)
        self.model = chosen.model
        self._api = Api(server(chosen), asking, chosen.timeout, announce, slow=True)
        # Models differ in what they take beside the messages; what one refuses is not sent to it again.
        self._options: dict[str, Any] = {"temperature": 0, "max_tokens": MOST_TOKENS}

    def ask(self, task: str, text: str) -> str:
        """The answer to `text` under the instructions of `task`, stripped; ModelError where there is none."""
        messages = [{"role": "system", "content": task}, {"role": "user", "content": text}]
        while True:
            sent = dict(self._options)
            try:
                answer = self._api.post(
                    "/chat/completions",
                    {"model": self.model, "messages": messages, **sent},
                    most_bytes=_MOST_BYTES,
                    stop=Event(),
                )
            except ModelError as error:
                if not self._adapt(sent, error.message):
                    raise
            else:
                return self._content(answer)

    def _adapt(self, sent: dict[str, Any], said: str) -> bool:
        """Whether the server refused one of the options that were sent, which is then changed."""
        options = dict(sent)
        if not _REFUSED.search(said):
            return False
        if "max_tokens" in sent and "max_tokens" in said:
            options["max_completion_tokens"] = options.pop("max_tokens")
        elif "max_completion_tokens" in sent and "max_" in said:
            del options["max_completion_tokens"]  # more than its window holds
        elif "temperature" in sent and "temperature" in said:
            del options["temperature"]
        else:
            return False
        self._options = options
        return True

    def _content(self, answer: Any) -> str:
        try:
            choice = answer["choices"][0]
            content = choice["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise unusable(self._api.server, "sent no answer of a chat model") from None
        if isinstance(content, list):
            parts = (part.get("text") for part in content if isinstance(part, dict))
            content = "".join(part for part in parts if isinstance(part, str))
        text = without_thinking(content) if isinstance(content, str) else ""
        if not text:
            cut = choice.get("finish_reason") == "length"
            raise unusable(
                self._api.server,
                f"spent all of {MOST_TOKENS:,} tokens on thinking" if cut else "sent an empty answer",
            )
        return text


def without_thinking(text: str) -> str:
    """The text, stripped, without what stands between `<think>` and `</think>`; one of the two may be missing."""
    kept: list[str] = []
    start, inside = 0, False
    for tag in _THINKING.finditer(text):
        if tag[1]:
            if not inside:
                kept.clear()  # the template opened it in the question
            inside, start = False, tag.end()
        elif not inside:
            kept.append(text[start : tag.start()])
            inside = True
    return "".join(kept if inside else [*kept, text[start:]]).strip()
