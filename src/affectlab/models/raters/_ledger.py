"""Answers of a face rater on disk: written as they come, found again by the bytes of a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from affectlab.models.raters._rater import FaceAnswer, FaceRater, Notes
from affectlab.stimuli.taxonomy._ledger import Ledger

__all__ = ["FaceLedger"]

LEDGER = "ledger.jsonl"


class FaceLedger:
    """Answers by picture, in the file ``ledger.jsonl`` of a folder; without a folder in memory.

    A picture is known by the hash of its bytes, so that a copy under another name is not asked
    about again. Answers of another rater, version or setting stay where they are and do not count.
    Transport errors are no answers: such a picture is asked about again. No key is ever written.
    """

    def __init__(self, folder: Path | None, rater: FaceRater) -> None:
        self._ledger = Ledger(None if folder is None else folder / LEDGER)
        self._rater = rater
        self._end = f":{rater.fingerprint}"

    def get(self, sha256: str) -> FaceAnswer | None:
        """Give the answer about a picture, None where it is to be asked about."""
        held = (self._ledger.get(sha256 + self._end) or {}).get("answer")
        if held is None or held["outcome"] == "transport":
            return None
        return FaceAnswer(**held)

    def put(self, sha256: str, answer: FaceAnswer) -> None:
        """Keep an answer, and write it down at once."""
        held: dict[str, Any] = {
            "outcome": answer.outcome,
            "scores": dict(answer.scores),
            "faces": answer.faces,
            "problem": answer.problem,
            "retries": answer.retries,
        }
        record: dict[str, Any] = {"rater": self._rater.name, "answer": held}
        state = (self._ledger.get(sha256 + self._end) or {}).get("state")
        if answer.outcome == "transport" and state is not None:
            # The job that was handed in is still there to be asked for.
            record["state"] = state
        self._ledger.put(sha256 + self._end, record)

    def notes(self, sha256: str) -> Notes:
        """Give the notes on a picture that is being asked about."""
        key = sha256 + self._end
        state = (self._ledger.get(key) or {}).get("state")

        def write(new: dict[str, Any]) -> None:
            self._ledger.put(key, {"rater": self._rater.name, "state": new})

        return Notes(state, write)
