"""Published pictures go all the ways: to embeddings, onto the pages of a study, into prompts."""

from __future__ import annotations

import io
import uuid
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.cli.command import run_here
from tests.models.vlm.fake_server import FakeServer, values

from affectlab.models.images import find_images
from affectlab.ratings import read_ratings

pytestmark = pytest.mark.data

KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}


@pytest.fixture
def pictures(shared_data: Path) -> Path:
    folder = shared_data / "emonet_face" / "images"
    assert {file.path.suffix for file in find_images(folder)} == set(KINDS)
    return folder


def test_embeddings(pictures: Path, tmp_path: Path) -> None:
    pytest.importorskip("skimage")
    from affectlab.models.embedding import Embeddings

    run_here("embed", pictures, "--out", tmp_path / "emb")
    found = Embeddings.load(tmp_path / "emb")
    assert found.stimuli == tuple(file.stimulus for file in find_images(pictures))
    assert np.isfinite(np.asarray(found.values, dtype=np.float64)).all()
    # Different faces, different rows.
    assert len(np.unique(np.asarray(found.values), axis=0)) == len(found)


def test_pages_of_a_study(pictures: Path, tmp_path: Path) -> None:
    for library in ("sqlalchemy", "fastapi", "httpx"):
        pytest.importorskip(library)
    from starlette.testclient import TestClient

    from affectlab.study import load_study, open_store
    from affectlab.study.server import create_app

    file = tmp_path / "real.toml"
    file.write_text(
        '[study]\nname = "real"\ntitle = "What do these faces show?"\n'
        f'[protocol]\nname = "intensity"\n[stimuli]\nfolder = "{pictures.as_posix()}"\n'
        "[sessions]\ntrials = 4\nraters = 1\n",
        encoding="utf-8",
    )
    assert "stimuli 4" in " ".join(run_here("study", "check", file).stdout.split())
    seen = []
    with (
        open_store(load_study(file)) as store,
        TestClient(create_app(store), base_url="http://127.0.0.1") as client,
    ):
        state = client.post("/api/enter", json={}).json()
        csrf = {"X-CSRF": state["csrf"]}
        state = client.post("/api/advance", json={"stage": state["stage"]}, headers=csrf).json()
        while state["stage"] == "trials":
            trial = state["trial"]
            shown = client.get(trial["stimulus"]["images"][0])
            seen.append(shown.headers["content-type"])
            Image.open(io.BytesIO(shown.content)).load()
            answer = {
                "trial": trial["id"],
                "answer": {"ratings": {trial["labels"][0]["name"]: 1}},
                "key": uuid.uuid4().hex,
                "widget": "radio",
            }
            state = client.post("/api/answers", json=answer, headers=csrf).json()
    assert state["stage"] == "complete"
    assert sorted(seen) == ["image/jpeg", "image/png", "image/webp", "image/webp"]


def test_prompts(pictures: Path, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    ask = ("rate", "openai-api/fake/m", pictures, "--out", tmp_path / "vlm.parquet")
    planned = run_here(*ask, "--dry-run").stdout
    assert "4 questions to" in planned
    with FakeServer(lambda call: values(Awe=3)) as server:
        run_here(*ask, "--base-url", server.url)
    names = {file.path.stem for file in find_images(pictures)}
    for call in server.calls:
        (sent,) = call.images
        picture = Image.open(io.BytesIO(sent))
        assert picture.format == "JPEG"
        assert max(picture.size) <= 1024
        # What a file is called may tell what it shows.
        assert not any(name in call.text for name in names)
    ratings = read_ratings(tmp_path / "vlm.parquet")
    assert set(ratings.stimulus_names) == names
