"""From a name on the Hugging Face hub to a small file here that the readers read."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError, name_hint
from affectlab.ratings.datasets.sets import list_datasets
from affectlab.ratings.datasets.store import (
    HubCopy,
    HubStore,
    as_file_name,
    chosen_split,
    is_commit,
)
from affectlab.ratings.datasets.tables import Wanted, is_written_here, read_tables

# What goes wrong between here and the hub, said in one sentence.


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


_TIMEOUT = 20.0
_TEXT_FILES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson")
_LICENCE = 100
"""Letters of a licence that are kept."""


def require_datasets() -> Any:
    """Import the library datasets.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """
    try:
        import datasets
    except ImportError:
        datasets = None
    # A folder of this name, where Python was started, is imported as well.
    if not hasattr(datasets, "load_dataset_builder"):
        raise MissingDependencyError(
            "data sets of the Hugging Face hub need the library datasets: "
            f"{install_line('datasets')}"
        )
    return datasets


def fetch(wanted: Wanted, cache: Path | None) -> tuple[HubCopy, str | None]:
    """Find the copy of a split, or make it.

    Parameters
    ----------
    wanted
        Which.
    cache
        Folder for copies. None: ``affectlab`` in the folder of the hub's libraries (``HF_HOME``).

    Returns
    -------
    tuple
        The copy, and why the hub could not be asked whether it is the newest (None: it was asked,
        or a commit was named, which never changes).

    Raises
    ------
    InputError
        When the hub cannot be reached and there is no copy, there is no such set, it is gated, or
        its columns are others than the reader needs.
    """
    require_datasets()
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    if cache is None:
        from huggingface_hub.constants import HF_HOME

        cache = Path(HF_HOME) / "affectlab"
    store = HubStore(cache, wanted.repository)
    which = (wanted.configuration, wanted.split)
    try:
        validate_repo_id(wanted.repository)
        if is_commit(wanted.revision):
            copy = store.find(wanted.revision, *which)
            if copy is not None:
                return copy, None
        commit, licence = _look_up(wanted)
        copy = store.find(commit, *which)
        if copy is None:
            copy = _copied(replace(wanted, revision=commit), licence, store)
    except raised_by_hub() as error:
        if isinstance(error, InputError):
            raise
        reason = why_unreachable(error)
        if reason is None:
            raise explained(error, wanted.repository, wanted.revision) from None
        known = store.commit_of(wanted.revision)
        copy = None if known is None else store.find(known, *which)
        if copy is None:
            raise InputError(
                f"the Hugging Face hub cannot be reached ({reason}), and {cache} holds no copy of "
                f"{wanted.repository}; {wanted.otherwise}"
            ) from None
        return copy, reason
    store.remember(wanted.revision, commit)
    return copy, None


def _look_up(wanted: Wanted) -> tuple[str, str | None]:
    """Commit of a revision, and the licence by the card."""
    from huggingface_hub import HfApi

    info = HfApi().dataset_info(wanted.repository, revision=wanted.revision, timeout=_TIMEOUT)
    # A folder is named by the commit, so that nothing else may stand there.
    if info.sha is None or not is_commit(info.sha):
        raise InputError(f"{wanted.repository}: the hub names no commit of {wanted.revision!r}")
    if is_commit(wanted.revision) and info.sha != wanted.revision:
        raise InputError(
            f"{wanted.repository}: the hub answers with commit {info.sha}; expected "
            f"{wanted.revision}"
        )
    return info.sha, _licence(info.card_data)


def _licence(card: Any) -> str | None:
    """Licence by the card, on one line; a licence of their own by the name they give it."""
    given = getattr(card, "license", None)
    if given == "other":
        named = getattr(card, "license_name", None)
        given = f"other ({named})" if isinstance(named, str) else given
    parts = given if isinstance(given, list) else [given]
    text = ", ".join(part for part in parts if isinstance(part, str))
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(plain.split())[:_LICENCE] or None


def _copied(wanted: Wanted, licence: str | None, store: HubStore) -> HubCopy:
    """Copy what is read of a split into the store."""
    files = _data_files(wanted)
    split = chosen_split(wanted.split, list(files), wanted.repository)
    inside = files[split]
    kinds = {PurePosixPath(file).suffix.lower() for file in inside}
    with store.adding(wanted.revision, wanted.configuration) as folder:
        name = as_file_name(split)
        left_out: tuple[str, ...] = ()
        if len(inside) == 1 and kinds == {".parquet"} and is_written_here(wanted, inside[0]):
            path = folder / f"{name}.parquet"
            _download(wanted, inside[0], path)
        elif kinds == {".parquet"}:
            path = folder / f"{name}.parquet"
            frame, left_out = read_tables(wanted, inside)
            frame.write_parquet(path)
        elif len(inside) == 1 and kinds <= set(_TEXT_FILES):
            path = folder / f"{name}{kinds.pop()}"
            _download(wanted, inside[0], path)
        else:
            raise InputError(
                f"{wanted.repository}: split '{split}' is {len(inside):,} files of kind "
                f"{', '.join(sorted(kinds)) or 'none'}; expected Parquet, or one file of CSV, TSV "
                "or JSON"
            )
        copy = HubCopy(
            path=path,
            repository=wanted.repository,
            configuration=wanted.configuration,
            split=split,
            splits=tuple(files),
            commit=wanted.revision,
            licence=licence,
            left_out=left_out,
        )
        store.describe(folder, copy)
    found = store.find(wanted.revision, wanted.configuration, split)
    if found is None:
        raise InputError(f"{copy.path.name}: the copy of {wanted.repository} vanished; try again")
    return found


def _data_files(wanted: Wanted) -> dict[str, list[str]]:
    """Files of each split inside the repository, as its card or the names of the files say."""
    datasets = require_datasets()
    with TemporaryDirectory() as folder, _quiet():
        # The whole address keeps a folder of the same name here from being taken.
        try:
            builder = datasets.load_dataset_builder(
                f"hf://datasets/{wanted.repository}",
                wanted.configuration,
                revision=wanted.revision,
                cache_dir=folder,
            )
        except raised_by_hub():
            raise
        except Exception as error:  # noqa: BLE001
            # Cards may hold anything, and the library stumbles over it in any way.
            words = " ".join(str(error).split())[:200] or type(error).__name__
            raise InputError(f"{wanted.repository}: its card is not understood ({words})") from None
    return {
        str(split): [_inside(wanted, str(file)) for file in files]
        for split, files in (builder.config.data_files or {}).items()
    }


def _inside(wanted: Wanted, address: str) -> str:
    """Path of a file inside the repository; a card may name what lies elsewhere."""
    root = f"hf://datasets/{wanted.repository}@{wanted.revision}/"
    path = address.removeprefix(root)
    if path == address or ".." in PurePosixPath(path).parts:
        raise InputError(
            f"{wanted.repository}: its card names {address[:200]}; expected files of its own"
        )
    return path


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library from logging that a card says nothing."""
    loggers = [logging.getLogger(name) for name in ("huggingface_hub.repocard", "datasets")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _download(wanted: Wanted, file: str, to: Path) -> None:
    """Copy a file as it is; beside `to`, since the hub's own folder may have no room for it."""
    from huggingface_hub import HfApi

    with TemporaryDirectory(dir=to.parent.parent, prefix=".new-") as folder:
        path = HfApi().hf_hub_download(
            wanted.repository,
            file,
            repo_type="dataset",
            revision=wanted.revision,
            cache_dir=folder,
        )
        shutil.move(Path(path).resolve(), to)
