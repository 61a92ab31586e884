"""Studies on real servers: processes of their own, on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from benchmarks._servers import Missing, Postgres

from affectlab.simulate import face_specs, save_faces

STUDY = """
[study]
name = "faces"
title = "What do these faces show?"
[protocol]
name = "intensity"
change = { asks = { taxonomy = "mikels", group_by = [] } }
[stimuli]
folder = "faces"
[sessions]
trials = 20
raters = 12
[consent]
text = "Taking part is voluntary."
"""


@pytest.fixture(scope="session")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Draw some faces."""
    folder = tmp_path_factory.mktemp("drawn")
    save_faces(folder, face_specs(3, ["awe", "anger", "fear", "disgust"], [0.5, 1.0]), size=96)
    return folder


@pytest.fixture
def study(tmp_path: Path, faces: Path) -> Path:
    """Write a study file: many more answers are wanted than one test gives."""
    return write_study(tmp_path, faces)


def write_study(folder: Path, faces: Path) -> Path:
    """Write a study file, and copies of the faces beside it."""
    (folder / "faces").mkdir()
    for copy in range(3):
        for file in faces.glob("*.png"):
            shutil.copy(file, folder / "faces" / f"{copy}-{file.name}")
    path = folder / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def cluster() -> Iterator[Postgres]:
    """Start a PostgreSQL cluster of our own."""
    try:
        made = Postgres()
    except Missing as missing:
        pytest.skip(str(missing))
    with made:
        yield made


@pytest.fixture
def postgres(cluster: Postgres) -> str:
    """Make an empty database; give its address."""
    return cluster.make_database(f"t{uuid.uuid4().hex[:12]}")
