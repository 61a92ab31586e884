"""From images to the tables and figures of people beside models, with a server on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.command import run_here

from affectlab.models.images import find_images
from affectlab.models.vlm import AskSettings, rate_vlm
from affectlab.models.vlm.prompts import image_part
from affectlab.ratings import Ratings
from affectlab.simulate import Identity, draw_face

from .fake_server import Answer, Call, FakeServer, chat, values

LABELS = ("Awe", "Fear", "Anger", "Sadness", "Amusement", "Disgust")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ratings, dict[str, dict]]:
    """Twenty-four faces of known intensity, and what four people say of them."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(5)
    people = [Identity.from_seed(seed) for seed in range(4)]
    truth: dict[str, dict[str, int]] = {}
    rows: dict[str, list] = {"stimulus": [], "rater": [], "label": [], "value": []}
    for k in range(24):
        label, strength = LABELS[k % 6], int(rng.integers(2, 8))
        name = f"face-{k:02d}"
        face = draw_face(label.lower(), strength / 7, people[k % 4], size=64)
        face.save(folder / f"{name}.png")
        truth[name] = {one: strength if one == label else 0 for one in LABELS}
        for rater in range(4):
            for one, value in truth[name].items():
                said = int(np.clip(value + rng.integers(-1, 2), 0, 7)) if value else 0
                for column, cell in zip(rows, (name, f"p{rater}", one, said), strict=True):
                    rows[column].append(cell)
    ratings = Ratings(rows, scale="0-7", taxonomy="emonet_face")
    ratings.write(folder / "people.parquet")
    return folder, ratings, truth


def rater(folder: Path, truth: dict[str, dict]):
    """A script that knows each picture by its bytes, and errs as its hash says."""
    sent = {image_part(file.path).data: file.stimulus for file in find_images(folder)}

    def script(call: Call) -> Answer:
        if not call.images:
            return values(**dict.fromkeys(LABELS, 1))
        name = sent[call.images[-1]]
        noise = hashlib.sha256(name.encode()).digest()
        if noise[0] < 12:
            return chat("I'm sorry, but I can't rate real people.")
        rated = {
            label: min(7, max(0, value + noise[k + 1] % 3 - 1)) if value else 0
            for k, (label, value) in enumerate(truth[name].items())
        }
        return values(**rated)

    return script


@pytest.mark.long
def test_from_images_to_the_report(
    study: tuple[Path, Ratings, dict[str, dict]], tmp_path: Path
) -> None:
    folder, people, truth = study
    with FakeServer(rater(folder, truth)) as server:
        run = rate_vlm(
            folder,
            "openai-api/fake/m",
            ledger=tmp_path / "vlm",
            settings=AskSettings(base_url=server.url),
            control=("no_image", "wrong_image"),
            rater="fake",
        )
    models = tmp_path / "fake.parquet"
    run.ratings.write(models)
    assert run.n_left == 0
    seen = run.ratings.select(raters="fake")
    both = people.merge(seen)
    assert set(both.rater_kinds) == {"human", "model"}
    given = (folder / "people.parquet", "--models", models, "--json")
    found = json.loads(run_here("evaluate", "outcomes", *given).stdout)["result"]
    main = [row for row in found["outcomes"] if row["rater"] == "fake" and row["outcome"] == "ok"]
    assert main[0]["count"] == run.outcomes.filter(rater="fake", outcome="ok").height
    checked = json.loads(run_here("evaluate", "controls", *given, "--n-boot", 0).stdout)["result"]
    runs = {
        (row["run"], row["quantity"]): row["value"]
        for row in checked["runs"]
        if row["measure"] == "answers"
    }
    # It looks: without the picture, or on a wrong one, next to nothing is left.
    assert runs["fake no_image", "main"] > 0.8
    assert runs["fake no_image", "control"] < 0.1
    assert runs["fake wrong_image", "control"] < 0.3
    done = run_here(
        *("evaluate", "alignment", folder / "people.parquet", "--models", models),
        "--json",
    )
    assert "fake" in done.stdout
    done = run_here(
        "report",
        folder / "people.parquet",
        "--models",
        models,
        "--out",
        tmp_path / "report",
        "--n-boot",
        20,
    )
    pages = list((tmp_path / "report").rglob("*.html"))
    assert pages
    assert any("fake" in page.read_text(encoding="utf-8") for page in pages)


QUIET = """
import socket, sys
real = socket.socket.connect
def connect(self, address):
    if isinstance(address, tuple) and address[0] != "127.0.0.1":
        sys.exit(f"reached for {address}")
    return real(self, address)
socket.socket.connect = connect
def look_up(host, *rest, real=socket.getaddrinfo, **options):
    if host not in ("127.0.0.1", b"127.0.0.1"):
        sys.exit(f"looked up {host}")
    return real(host, *rest, **options)
socket.getaddrinfo = look_up
from affectlab.models.vlm import AskSettings, rate_vlm
images, ledger, url = sys.argv[1:]
run = rate_vlm(images, "openai-api/fake/m", ledger=ledger, settings=AskSettings(base_url=url))
assert run.n_usable == 2, run
"""


@pytest.mark.long
def test_inspect_writes_nothing_shows_nothing_and_calls_nobody(tmp_path: Path) -> None:
    home, work, images = tmp_path / "home", tmp_path / "work", tmp_path / "images"
    for folder in (home, work, images):
        folder.mkdir()
    for name in ("awe", "fear"):
        draw_face(name, size=64).save(images / f"{name}.png")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "TMPDIR": str(work),
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "INSPECT_LOG_LEVEL": "debug",
        "INSPECT_DISPLAY": "full",
        "FAKE_API_KEY": "none",
    }
    with FakeServer(lambda call: values(Amusement=1)) as server:
        done = subprocess.run(
            [sys.executable, "-c", QUIET, str(images), str(tmp_path / "ledger"), server.url],
            check=False,
            capture_output=True,
            text=True,
            cwd=work,
            env=environment,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not [*home.rglob("*"), *work.rglob("*")]
