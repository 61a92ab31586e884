"""A service in ``affectlab rate``: what it says, writes and refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image
from tests.cli.command import run_here
from tests.here import only_here as only_here
from tests.models.raters.fake_hume import KEY, Reply, serving, upload_face, uploaded

from affectlab.ratings import read_ratings


@pytest.fixture(autouse=True)
def _guarded(only_here: list[str]) -> None:
    """Guard every test."""


def pictures(folder: Path, *widths: int) -> Path:
    folder.mkdir()
    for width in widths:
        Image.new("RGB", (width, 40), (width, 90, 120)).save(folder / f"w{width}.png")
    return folder


def test_a_service_beside_others(tmp_path: Path) -> None:
    images = pictures(tmp_path / "faces", 50, 51, 52, 53)
    big, small = upload_face(30, {"joy": 0.9, "awe": 0.2}), upload_face(9, {"fear": 0.8})
    with serving() as hume:
        hume.upload[50] = [Reply(body=uploaded())]
        hume.upload[51] = [Reply(body=uploaded(small, big))]
        hume.upload[52] = [Reply(body=b"{}")]
        asked = (
            *("rate", "hume", images, "--out", tmp_path / "out.csv"),
            *("--set", f"url={hume.url}", "--set", "pause=0.01"),
        )
        done = run_here(*asked, HUME_API_KEY=KEY)
        assert "hume rated 4 stimuli on 48 labels" in done.stdout
        assert "1 stimulus: no face found" in done.stdout
        assert "1 stimulus: schema invalid" in done.stdout
        assert "1 picture with several faces: the largest was rated" in done.stdout
        found = read_ratings(tmp_path / "out.csv")
        values = found.to_frame().filter(stimulus="w51").select("label", "value").rows()
        assert dict(values) == {"joy": 0.9, "awe": 0.2}
        before = len(hume.seen)
        again = run_here(*asked, "--json", HUME_API_KEY=KEY)
        assert len(hume.seen) == before
    told = json.loads(again.stdout)
    assert told["schema"] == "affectlab/rate/1"
    result = told["result"]
    assert result["outcomes"] == {"ok": 2, "schema_invalid": 1, "empty": 1}
    assert (result["n_stimuli"], result["several_faces"]) == (4, 1)
    assert result["about"]["version"] == "v1"
    assert KEY not in done.stdout + done.stderr + again.stdout


def test_labels_of_a_taxonomy(tmp_path: Path) -> None:
    mapping = tmp_path / "mine.toml"
    with serving() as hume:
        hume.upload[50] = [Reply(body=uploaded(upload_face(9, {"awe": 0.5, "joy": 0.5})))]
        asked = (
            *("rate", "hume", pictures(tmp_path / "faces", 50)),
            *("--out", tmp_path / "out.csv", "--set", f"url={hume.url}", "--taxonomy"),
        )
        # Five of Ekman's six have a name there, and 43 expressions have none.
        refused = run_here(*asked, "ekman", code=2, HUME_API_KEY=KEY)
        assert hume.seen == []
        assert not (tmp_path / "out.run").exists()
        # All of Mikels' eight have one.
        done = run_here(*asked, "mikels", HUME_API_KEY=KEY)
    said = " ".join(refused.stderr.split())
    assert "there is no mapping to taxonomy 'ekman'; 5 of 48 labels have a name there" in said
    assert "nothing says what becomes surprise; expected a mapping" in said
    assert "hume rated 1 stimulus on 1 label" in done.stdout
    assert "note: labels left out: admiration: no label of taxonomy mikels" in " ".join(
        done.stderr.split()
    )
    mapping.write_text(
        'source = "hume"\ntarget = "ekman"\nprovenance = "me"\n[labels]\njoy = "joy"\n'
    )
    refused = run_here(
        *("rate", "hume", tmp_path / "faces", "--out", tmp_path / "o.csv"),
        *("--label-map", mapping),
        code=2,
    )
    assert "mine.toml" in refused.stderr
    assert "neither mapped and declared unmapped" in refused.stderr.replace("\n", " ")


def test_without_a_usable_answer(tmp_path: Path) -> None:
    images = pictures(tmp_path / "faces", 50, 51)
    with serving() as hume:
        hume.upload[50], hume.upload[51] = [Reply(body=b"{}")], [Reply(400)]
        asked = (
            *("rate", "hume", images, "--out", tmp_path / "out.csv"),
            *("--set", f"url={hume.url}", "--set", "pause=0.01"),
        )
        refused = run_here(*asked, code=2, HUME_API_KEY=KEY).stderr.replace("\n", " ")
        assert "hume has no usable answer" in refused
        assert "answers.csv says why" in refused
        before = len(hume.seen)
        # A rejection is no answer: it is asked about again without a word.
        done = run_here(*asked, HUME_API_KEY=KEY)
        assert len(hume.seen) == before + 1
        assert "1 stimulus: schema invalid" in done.stdout
        all_of_them = run_here(*asked, "--config", "again=schema_invalid", HUME_API_KEY=KEY)
        assert "hume rated 2 stimuli" in all_of_them.stdout
        assert len(hume.seen) == before + 2


def test_the_end_of_patience(tmp_path: Path) -> None:
    images = pictures(tmp_path / "faces", *range(50, 60))
    with serving() as hume:
        for width in range(50, 60):
            hume.upload[width] = [Reply(400)]
        asked = (
            *("rate", "hume", images, "--out", tmp_path / "out.csv"),
            *("--set", f"url={hume.url}", "--set", "concurrency=1", "--config", "patience=3"),
        )
        refused = run_here(*asked, code=2, HUME_API_KEY=KEY).stderr.replace("\n", " ")
        assert "no answer about 3 pictures in a row that can be used" in refused
        assert len(hume.seen) <= 4
        hume.upload.clear()
        assert "hume rated 10 stimuli" in run_here(*asked, HUME_API_KEY=KEY).stdout


def test_an_interrupt_ends_waits(tmp_path: Path) -> None:
    images = pictures(tmp_path / "faces", *range(50, 62))
    with serving() as hume:
        for width in range(50, 62):
            hume.upload[width] = [Reply(503)] * 20
        command = (
            *("rate", "hume", str(images), "--out", str(tmp_path / "out.csv")),
            *("--set", f"url={hume.url}", "--set", "pause=60"),
        )
        # Where tests run in the background, interrupts may be ignored, and that is inherited.
        code = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "from affectlab.cli import main; main()"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code, *command],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"HUME_API_KEY": KEY},
        )
        for _ in range(3000):
            if len(hume.seen) >= 4:
                break
            time.sleep(0.02)
        time.sleep(0.2)
        asked = len(hume.seen)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=50)
        finally:
            process.kill()
            process.wait()
        # All four that were under way waited for a minute, and then would have for two.
        assert time.monotonic() - began < 20
        assert len(hume.seen) == asked == 4
    assert process.returncode == 130
    assert "interrupted" in said
    assert "goes on from there" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("humee",), "unknown rater 'humee'; did you mean 'hume'"),
        (("hume",), "put it in the environment variable HUME_API_KEY"),
        (("hume", "--set", "colour=3"), "unknown setting 'colour'"),
        (("hume", "--taxonomy", "nowhere"), "nowhere"),
    ],
)
def test_what_is_refused(more: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = run_here(
        *("rate", more[0], pictures(tmp_path / "faces", 50), "--out", tmp_path / "out.csv"),
        *more[1:],
        code=2,
        HUME_API_KEY="",
    )
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


def test_broken_images(tmp_path: Path) -> None:
    images = pictures(tmp_path / "faces", 50)
    (images / "broken.png").write_bytes(b"no")
    with serving() as hume:
        asked = (
            *("rate", "hume", images, "--out", tmp_path / "out.csv"),
            *("--set", f"url={hume.url}"),
        )
        refused = run_here(*asked, code=2, HUME_API_KEY=KEY)
        assert "stimulus 'broken'" in refused.stderr
        done = run_here(*asked, "--config", "set_aside=true", "--quiet", HUME_API_KEY=KEY)
    assert "warning: 1 picture could not be read" in done.stderr
