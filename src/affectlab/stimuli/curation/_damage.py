"""Files of an earlier run that cannot be read any more, told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from affectlab.errors import AffectlabError, InputError

__all__ = ["damage_told"]


@contextmanager
def damage_told(work: Path) -> Iterator[None]:
    """Say which file of a run's work is damaged, where that is why something failed.

    Raises
    ------
    InputError
        When something failed and a Parquet file in `work` was cut short or is none; whatever else
        was raised is raised as it is.
    """
    try:
        yield
    except AffectlabError:
        raise
    except Exception as problem:
        damaged = next(
            (path for path in sorted(work.rglob("*.parquet")) if _is_damaged(path)), None
        )
        if damaged is None:
            raise
        raise InputError(
            f"{damaged}: cannot be read; it was cut short or changed since an earlier run wrote "
            "it. Begin anew with --restart, in Python with resume=False"
        ) from problem


def _is_damaged(path: Path) -> bool:
    """Tell whether the footer of a Parquet file, which comes last, cannot be read."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        parquet.read_metadata(path)
    except (pa.ArrowException, OSError):
        return True
    return False
