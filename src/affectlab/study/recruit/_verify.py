"""Asking Prolific at entry whether a visitor is who the address says."""

from __future__ import annotations

from typing import Literal

from affectlab.study import _entry
from affectlab.study._parts import Recruitment

__all__ = ["verify"]

_SECONDS = 5.0
"""How long a visitor waits at most for Prolific's word."""


def verify(
    recruitment: Recruitment, visitor: _entry.Visitor
) -> Literal["", "yes", "no", "not known", "not reached"]:
    """Ask Prolific about a visitor, where the study wants that.

    Anyone can write an address with names in it; Prolific knows whether this person has this
    submission open.

    Returns
    -------
    ``""`` when nobody was asked; ``yes`` when the submission is this person's and of this study;
    ``no`` when it is not. When Prolific cannot be reached, ``not reached``: the visitor is let in,
    since that is not the visitor's fault, and what is stored says so.
    """
    if not recruitment.verify or recruitment.platform != "prolific" or visitor.source == "link":
        return ""
    from affectlab.study.recruit._prolific import ProlificClient, ProlificError

    submission = visitor.external_session
    if not submission or not submission.isalnum():
        return "no"
    with ProlificClient.from_environment(timeout=_SECONDS, attempts=1) as client:
        try:
            found = client.submission(submission)
        except ProlificError as error:
            return "no" if error.status == 404 else "not reached"
    same = found.participant == visitor.external_id
    of_study = not recruitment.study_id or found.study == recruitment.study_id
    return "yes" if same and of_study else "no"
