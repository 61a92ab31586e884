"""What the verbs of a study share."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.core.errors import MissingDependencyError

if TYPE_CHECKING:
    from affectlab.study.store import Store

__all__ = ["open_study", "require_study_extra"]


def require_study_extra() -> None:
    """Say what to install when the libraries of the server are not there."""
    for library in ("sqlalchemy", "alembic", "fastapi", "uvicorn", "httpx", "argon2"):
        if find_spec(library) is None:
            raise MissingDependencyError(
                f"studies need {library}; install it with: pip install 'affectlab[study]'"
            )


def open_study(study: Path, database: str | None) -> Store:
    """Open the data of a study."""
    require_study_extra()
    from affectlab.study import load_study, open_store

    return open_store(load_study(study), database)
