"""A lab's story: a strange file of people, a published checkpoint and a provider, to one report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.command import run_here
from tests.models.raters.checkpoints import FER, save_image
from tests.models.vlm.fake_server import Answer, Call, FakeServer, chat

from affectlab.ratings import read_ratings
from affectlab.simulate import face_specs, save_faces

pytestmark = pytest.mark.long
EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")


def people(path: Path, stimuli: list[str]) -> None:
    """A file as a survey gives it: a row a person, a column a picture and emotion, semicolons."""
    names = [f"{stimulus}_{emotion}" for stimulus in stimuli for emotion in EMOTIONS]
    lines = [";".join(["Participant", *names])]
    for person in range(6):
        cells = [
            str(max(0, min(7, 5 + (person + k) % 3 - 1))) if emotion in stimulus else str(k % 2)
            for k, stimulus in enumerate(stimuli)
            for emotion in EMOTIONS
        ]
        lines.append(";".join([f"P{person:02d}", *cells]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8-sig")


def test_from_a_strange_file_to_one_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "k")
    pictures = tmp_path / "pictures"
    save_faces(pictures, face_specs(3, ["joy", "anger", "fear"]), size=48)
    stimuli = sorted(path.stem for path in pictures.glob("*.png"))
    file = tmp_path / "survey.csv"
    people(file, stimuli)
    described = run_here("ratings", "describe", file, "--wide", "stimuli,labels", "--scale", "0-7")
    assert "6" in described.stdout
    read = tmp_path / "people.parquet"
    wide = ("--wide", "stimuli,labels", "--scale", "0-7", "--taxonomy", "ekman")
    run_here("ratings", "convert", file, *wide, "--out", read)
    assert set(read_ratings(read).stimulus_names) == set(stimuli)

    checkpoint = save_image(tmp_path / "vit", FER)
    net = tmp_path / "net.parquet"
    said = run_here("rate", checkpoint, pictures, "--taxonomy", "ekman", "--out", net).stdout
    assert "happy → joy" in said

    def script(call: Call) -> Answer:
        return chat(json.dumps({name: 4 if name == "joy" else 1 for name in EMOTIONS}))

    protocol = tmp_path / "six.toml"
    protocol.write_text(
        'name = "six"\nversion = "1"\nstimulus = "image"\nquestion = "How much {label}?"\n'
        'answer = "ratings"\nscale = "0-7"\n[asks]\ntaxonomy = "ekman"\n',
        encoding="utf-8",
    )
    asked = tmp_path / "asked.parquet"
    with FakeServer(script) as server:
        run_here(
            *("rate", "openai-api/lab/tiny", pictures, "--protocol", protocol),
            *("--base-url", server.url, "--out", asked),
        )
        n_asked = len(server.calls)
        # The same command asks nobody again.
        run_here(
            *("rate", "openai-api/lab/tiny", pictures, "--protocol", protocol),
            *("--base-url", server.url, "--out", asked),
        )
        assert len(server.calls) == n_asked == len(stimuli)

    out = tmp_path / "report"
    run_here("report", read, "--models", net, "--models", asked, "--out", out)
    page = next(out.glob("*.html")).read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", " ", page)
    assert "6 people and 2 models" in text
    for name in ("vit", "openai-api/lab/tiny zero-shot"):
        assert name in text
