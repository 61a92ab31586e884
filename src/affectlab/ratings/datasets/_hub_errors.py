"""What goes wrong between here and the hub, said in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from affectlab.errors import InputError, name_hint
from affectlab.ratings.datasets._hub_sets import list_datasets

__all__ = ["explained", "raised_by_hub", "why_unreachable"]

_CLIENTS = {"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3", "aiohttp"}
_BUSY = (408, 425, 429, 500, 502, 503, 504)


def raised_by_hub() -> tuple[type[Exception], ...]:
    """Kinds of errors that the hub's libraries raise when a set cannot be had."""
    import polars as pl
    import pyarrow as pa
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError

    # The first base is the base of all errors of the HTTP library that this version uses.
    client = HfHubHTTPError.__bases__[0]
    tables = (pa.ArrowException, pl.exceptions.PolarsError)
    return (OSError, ValueError, RuntimeError, EntryNotFoundError, client, *tables)


def why_unreachable(error: BaseException) -> str | None:
    """Why the hub did not answer; None when it did."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    for cause in _chain(error):
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if isinstance(cause, OfflineModeIsEnabled):
            return "HF_HUB_OFFLINE is set"
        if status in _BUSY:
            return f"it answered {status}"
        of_client = type(cause).__module__.partition(".")[0] in _CLIENTS
        if isinstance(cause, ConnectionError | TimeoutError) or (of_client and status is None):
            words = _words(cause) or type(cause).__name__
            return f"no connection: {words[:120]}"
    return None


def explained(error: BaseException, repository: str, revision: str) -> InputError:
    """Say what is wrong with a data set, or with access to it."""
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    causes = list(_chain(error))
    words = _words(error)
    if any(isinstance(cause, GatedRepoError) for cause in causes) or "is a gated dataset" in words:
        return InputError(
            f"{repository} is gated: accept its terms on its page of the hub, then log in with "
            "'hf auth login' or put a token into HF_TOKEN"
        )
    if any(isinstance(cause, RevisionNotFoundError) for cause in causes):
        return InputError(
            f"{repository} has no revision {revision!r}; expected a branch, a tag or a commit"
        )
    if any(isinstance(cause, HFValidationError) for cause in causes):
        return InputError(
            f"{repository!r} is no name of a data set on the hub; expected OWNER/NAME"
        )
    if any(isinstance(cause, RepositoryNotFoundError) for cause in causes):
        known = [entry.hub for entry in list_datasets() if entry.hub is not None]
        hint = name_hint(repository, dict.fromkeys(known))
        close = f"; {hint}" if hint.startswith("did you mean") else ""
        return InputError(
            f"there is no data set {repository!r} on the hub, or it is private (log in with "
            f"'hf auth login'){close}"
        )
    return InputError(f"{repository}: {_of_library(type(error).__name__, words)}")


def _of_library(kind: str, words: str) -> str:
    """Say what the library datasets found wrong."""
    if "scripts are no longer supported" in words:
        return "it is made by a program, which is never run; expected files of Parquet, CSV or JSON"
    available = re.search(r"(?:not found\. Available|available configs): (\[.*?\])", words)
    if available is not None:
        return f"the configuration must be one of {available[1]}"
    if kind in ("EmptyDatasetError", "DataFilesNotFoundError"):
        return "it holds no data files; expected Parquet, CSV or JSON"
    return f"it cannot be read from the hub ({words[:200] or kind})"


def _words(error: BaseException) -> str:
    """What an error says, on one line and without tokens or passwords."""
    words = " ".join(str(error).split())
    # The library also looks into a folder here, of which nobody spoke.
    words = re.sub(r"^Couldn't find any data file at .* Hub either: (\w+: )?", "", words)
    words = re.sub(r"(Bearer )[^\s'\"]+|\bhf_\w{8,}", r"\1***", words)
    words = re.sub(r"(https?://)[^\s/@]+@", r"\1***@", words)
    return re.sub(r"(https?://[^\s?'\"]+)\?[^\s'\"]*", r"\1", words)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
