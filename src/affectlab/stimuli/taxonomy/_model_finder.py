"""Emotion terms by a language model, over any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import time
from dataclasses import replace
from hashlib import sha256
from json import dumps
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from affectlab.errors import InputError
from affectlab.stimuli.taxonomy._found import Found
from affectlab.stimuli.taxonomy._ledger import Ledger
from affectlab.stimuli.taxonomy._model_answer import INSTRUCTION, RESPONSE_FORMAT, read_answer
from affectlab.stimuli.taxonomy._server_address import checked_key, server_address, without_key

if TYPE_CHECKING:
    import httpx

__all__ = ["ModelFinder"]

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Answers of a server that may be another one a moment later."""
_CLOSED = frozenset({401, 403, 404})
"""Answers that are the same for every block."""
_LONGEST_PAUSE = 60.0
_SHORTEST_SECRET = 8


class ModelFinder:
    """Asks a language model for the emotion terms of a text, once per text.

    Only the transport is retried: no connection, or a server that is busy. A refusal, an answer
    that was cut off and anything but the JSON object asked for is an outcome that is recorded,
    never a reason to ask again until the answer pleases.

    Parameters
    ----------
    url
        Address of the server, such as ``http://localhost:8000/v1``; no password may stand in it.
    model
        Name of the model on that server.
    key
        Key of the server, where it needs one; it is sent, and written nowhere, even if the server
        sends it back.
    ledger
        File of JSON lines with all answers. Texts that stand in it, asked of the same model in the
        same words, are not asked again, so that interrupted work goes on.
    structured
        Ask the server to hold the model to the JSON schema. Servers that do not know how answer
        with an error 400.
    retries
        How often a question is sent again when the transport fails.
    pause
        Seconds before the first retry; doubled each time. What the server asks for goes first.
    timeout
        Seconds to wait for an answer.

    Raises
    ------
    InputError
        When `url` is no address, or `key` no key; when asking, when httpx is not installed, or the
        server refuses all questions: a wrong key, model or path.

    Examples
    --------
    >>> finder = ModelFinder("http://localhost:8000/v1", "my-model")
    >>> finder
    ModelFinder('my-model' at http://localhost:8000/v1, 0 answers kept)
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        ledger: str | Path | None = None,
        structured: bool = True,
        retries: int = 5,
        pause: float = 1.0,
        timeout: float = 120.0,
    ) -> None:
        self.url = server_address(url)
        self.model = model
        self.ledger = Ledger(ledger)
        self.structured = structured
        self.retries = retries
        self.pause = pause
        self._key = checked_key(key)
        self._timeout = timeout
        self._client: httpx.Client | None = None
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"ModelFinder({self.model!r} at {self.url}, {len(self.ledger)} answers kept)"

    def __enter__(self) -> ModelFinder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def __call__(self, text: str) -> Found:
        """Give the terms of a text, from the ledger where it has them."""
        question = self._question(text)
        key = sha256(dumps([self.url, question], sort_keys=True).encode()).hexdigest()
        held = self.ledger.get(key)
        if held is not None and held.get("outcome") != "unreached":
            return Found(
                tuple(held.get("terms", ())),
                str(held.get("outcome", "ok")),
                str(held.get("detail", "")),
            )
        found, wrote, usage = self._ask(question)
        self.ledger.put(
            key,
            {
                "model": self.model,
                "outcome": found.outcome,
                "detail": found.detail,
                "terms": list(found.terms),
                "answer": wrote,
                "usage": usage,
            },
        )
        return found

    def _connection(self) -> httpx.Client:
        """Connect when the first question is asked; threads share the connections."""
        try:
            import httpx
        except ImportError:
            raise InputError(
                "language models are asked with httpx; install it with: "
                'pip install "affectlab[study]"'
            ) from None
        with self._lock:
            if self._client is None:
                sent = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
                self._client = httpx.Client(headers=sent, timeout=self._timeout)
            return self._client

    def _question(self, text: str) -> dict[str, Any]:
        question: dict[str, Any] = {
            "model": self.model,
            "temperature": 0,
            "messages": [
                {"role": "system", "content": INSTRUCTION},
                {"role": "user", "content": f"Passage:\n\n{text}"},
            ],
        }
        if self.structured:
            question["response_format"] = RESPONSE_FORMAT
        return question

    def _ask(self, question: dict[str, Any]) -> tuple[Found, str, dict[str, Any]]:
        client = self._connection()
        import httpx

        trouble = ""
        for attempt in range(self.retries + 1):
            wait = 0.0
            try:
                reply = client.post(f"{self.url}/chat/completions", json=question)
            except httpx.TransportError as problem:
                trouble = without_key(f"{type(problem).__name__}: {problem}", self._key)
            else:
                if reply.status_code not in _BUSY:
                    return self._read(reply)
                trouble = f"status {reply.status_code}: {self._said(reply)}"
                wait = _asked_for(reply)
            if attempt < self.retries:
                time.sleep(min(max(wait, self.pause * 2**attempt), _LONGEST_PAUSE))
        tried = f"{self.retries + 1} times tried; {trouble}"
        return Found((), "unreached", tried), "", {}

    def _read(self, reply: httpx.Response) -> tuple[Found, str, dict[str, Any]]:
        if reply.status_code in _CLOSED:
            raise InputError(
                f"{self.url} answers {reply.status_code} to {self.model!r}: {self._said(reply)}; "
                "check the address, the name of the model and the key"
                f"{' (none was sent)' if self._key is None else ''}"
            )
        if reply.status_code != 200:
            told = f"status {reply.status_code}: {self._said(reply)}"
            return Found((), "rejected", told), "", {}
        # A key as short as a word, such as those that local servers take, may be one in an answer.
        key = self._key if len(self._key or "") >= _SHORTEST_SECRET else None
        found, wrote, usage = read_answer(without_key(reply.content, key))
        terms = tuple(dict.fromkeys(without_key(found.terms, key)))
        found = replace(found, terms=terms, detail=without_key(found.detail, key))
        return found, without_key(wrote, key), without_key(usage, key)

    def _said(self, reply: httpx.Response) -> str:
        """The beginning of what a server replied that gave no answer."""
        # The key goes first: cut in the middle, it would not be found.
        return without_key(reply.text, self._key)[:200]


def _asked_for(reply: httpx.Response) -> float:
    """Seconds that a busy server asks to wait, where it says a number."""
    try:
        return float(reply.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
