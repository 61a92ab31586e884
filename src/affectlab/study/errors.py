"""What a participant's browser, or a script, did that cannot be done."""

from __future__ import annotations

from affectlab.core.errors import AffectlabError

__all__ = [
    "StudyError",
    "closed",
    "conflict",
    "forbidden",
    "invalid",
    "not_found",
    "out_of_order",
    "unknown_session",
]


class StudyError(AffectlabError):
    """A request that was refused; nothing was stored.

    Parameters
    ----------
    status
        Status of the reply over HTTP.
    code
        Name of the kind of error, which programs can rely on.
    sentence
        What is wrong, for people.
    """

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code


def not_found(sentence: str) -> StudyError:
    """Refuse what is not there, or not there for this participant."""
    return StudyError(404, "not_found", sentence)


def unknown_session() -> StudyError:
    """Refuse a token that opens no session."""
    return not_found("This session is not known here. Please open the link you were given again.")


def out_of_order(sentence: str) -> StudyError:
    """Refuse a step that is not the next one."""
    return StudyError(409, "out_of_order", sentence)


def conflict(sentence: str) -> StudyError:
    """Refuse what contradicts what is stored."""
    return StudyError(409, "conflict", sentence)


def invalid(sentence: str) -> StudyError:
    """Refuse content that does not keep to the protocol or the study."""
    return StudyError(422, "invalid", sentence)


def forbidden(sentence: str) -> StudyError:
    """Refuse someone who may not do this."""
    return StudyError(403, "forbidden", sentence)


def closed(sentence: str) -> StudyError:
    """Refuse because the study takes no answers now."""
    return StudyError(410, "closed", sentence)
