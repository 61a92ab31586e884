"""What the verbs of a study share."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from affectlab.cli.parameters import Argument, Option
from affectlab.core.errors import MissingDependencyError

__all__ = ["DatabaseOption", "StudyArgument", "require_study_extra"]

StudyArgument = Annotated[Path, Argument(help="The study file (TOML).", metavar="STUDY")]
DatabaseOption = Annotated[
    str | None,
    Option(
        envvar="AFFECTLAB_DATABASE",
        help="Address of a database: postgresql://user@host/name. By default SQLite, in the "
        "study's folder.",
        show_default=False,
    ),
]


def require_study_extra() -> None:
    """Say what to install when the libraries of the server are not there."""
    for library in ("sqlalchemy", "alembic", "fastapi", "uvicorn", "httpx", "argon2"):
        if find_spec(library) is None:
            raise MissingDependencyError(
                f"studies need {library}; install it with: pip install 'affectlab[study]'"
            )
