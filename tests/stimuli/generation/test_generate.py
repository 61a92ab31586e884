"""From prompts to pictures: the manifest, interrupted runs, changes, and generators that fail."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.stimuli import face_prompts
from affectlab.stimuli.generation import (
    ImageGenerator,
    ImagePrompt,
    Picture,
    generate_images,
    read_manifest,
    read_prompts,
)
from affectlab.stimuli.generation.generator import RefusedPictureError

PROMPTS = face_prompts(6, weights={"Awe": 2, "Longing": 1}, seed=4)


def grey(level: int) -> Image.Image:
    return Image.new("RGB", (8, 6), (level, level, level))


class Maker:
    """A generator that remembers what it was asked for, and fails where it is told to."""

    def __init__(self, fails: Sequence[str] = (), stop_at: str = "", batch: int = 1) -> None:
        self.name, self.version = "maker", "1"
        self.settings: object = {"steps": 3}
        self.fails, self.stop_at, self.batch = set(fails), stop_at, batch
        self.asked: list[str] = []

    def __call__(self, batch: Sequence[ImagePrompt]) -> list[Any]:
        for prompt in batch:
            self.asked.append(prompt.stimulus)
            if prompt.stimulus == self.stop_at:
                raise KeyboardInterrupt
            if prompt.stimulus in self.fails:
                raise RuntimeError(f"out of ink\nfor {prompt.stimulus}")
        return [grey(prompt.seed % 256) for prompt in batch]


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "images").iterdir())}


def test_the_manifest_says_what_was_made(tmp_path: Path) -> None:
    made = generate_images(PROMPTS, tmp_path / "out", generator=Maker())
    asked = PROMPTS.to_frame()
    assert len(made) == made.n_made == 6
    assert made.n_kept == made.failed.height == 0
    assert made.images["stimulus"].to_list() == asked["stimulus"].to_list()
    for row, prompt in zip(
        made.images.iter_rows(named=True), asked.iter_rows(named=True), strict=True
    ):
        for name in ("prompt", "label", "words", "gender", "age", "ethnicity", "seed"):
            assert row[name] == prompt[name]
        content = (tmp_path / "out" / row["file"]).read_bytes()
        assert row["sha256"] == hashlib.sha256(content).hexdigest()
        assert row["bytes"] == len(content)
        with Image.open(io.BytesIO(content)) as image:
            assert image.format == "PNG"
            assert (image.width, image.height) == (row["width"], row["height"]) == (8, 6)
            assert image.getpixel((0, 0)) == (row["seed"] % 256,) * 3
        assert (row["generator"], row["generator_version"]) == ("maker", "1")
        assert json.loads(row["settings"]) == {"steps": 3}
    assert read_manifest(tmp_path / "out").equals(
        made.images.select(read_manifest(made.path).columns)
    )
    assert not list((tmp_path / "out").rglob("*.part"))
    assert not (tmp_path / "out" / "failed.csv").exists()


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    names = PROMPTS.to_frame()["stimulus"].to_list()
    whole = generate_images(PROMPTS, tmp_path / "whole", generator=Maker())
    first = Maker(stop_at=names[3])
    with pytest.raises(KeyboardInterrupt):
        generate_images(PROMPTS, tmp_path / "out", generator=first)
    # What was made stands in the table, although the run did not come to its end.
    assert read_manifest(tmp_path / "out")["stimulus"].to_list() == names[:3]
    second = Maker()
    made = generate_images(PROMPTS, tmp_path / "out", generator=second)
    assert second.asked == names[3:]
    assert (made.n_kept, made.n_made) == (3, 3)
    assert made.images.equals(whole.images)
    assert files(tmp_path / "out") == files(tmp_path / "whole")
    third = Maker()
    assert generate_images(PROMPTS, tmp_path / "out", generator=third).n_made == 0
    assert third.asked == []


@pytest.mark.parametrize("rest", [b'{"stimulus": "face-0', b'{"stimulus": "x", "outcome": "ok"}'])
def test_half_a_line_of_a_killed_run(tmp_path: Path, rest: bytes) -> None:
    generate_images(PROMPTS, tmp_path, generator=Maker())
    journal = tmp_path / "images.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + rest)
    again = Maker()
    made = generate_images(PROMPTS, tmp_path, generator=again)
    assert again.asked == []
    assert len(made) == 6
    assert journal.read_bytes() == whole
    journal.write_bytes(b"no json\n" + whole)
    with pytest.raises(InputError, match=r"images\.jsonl, line 1: not a line of a journal"):
        generate_images(PROMPTS, tmp_path, generator=again)


def test_a_lost_or_cut_picture_is_made_again(tmp_path: Path) -> None:
    made = generate_images(PROMPTS, tmp_path, generator=Maker())
    before = files(tmp_path)
    (tmp_path / made.images["file"][1]).unlink()
    cut = tmp_path / made.images["file"][2]
    cut.write_bytes(cut.read_bytes()[:20])
    again = Maker()
    assert generate_images(PROMPTS, tmp_path, generator=again).n_made == 2
    assert again.asked == made.images["stimulus"].to_list()[1:3]
    assert files(tmp_path) == before


class TestChanges:
    def test_another_prompt_is_named(self, tmp_path: Path) -> None:
        generate_images(PROMPTS, tmp_path, generator=Maker())
        other = PROMPTS.to_frame().with_columns(
            prompt=pl.when(pl.col("stimulus") == "face-00002")
            .then(pl.lit("Something else."))
            .otherwise("prompt")
        )
        before = files(tmp_path)
        with pytest.raises(InputError) as refused:
            generate_images(other, tmp_path, generator=Maker())
        assert "'face-00002' was made from another prompt" in str(refused.value)
        assert "'Something else.'" in str(refused.value)
        assert files(tmp_path) == before
        maker = Maker()
        made = generate_images(other, tmp_path, generator=maker, changed="again")
        assert maker.asked == ["face-00002"]
        assert made.images.filter(stimulus="face-00002")["prompt"].item() == "Something else."
        kept = generate_images(PROMPTS, tmp_path, generator=maker, changed="keep")
        # What the picture was made from is said, not what was asked for now.
        assert kept.images.filter(stimulus="face-00002")["prompt"].item() == "Something else."

    @pytest.mark.parametrize(
        ("attribute", "value", "said"),
        [
            ("name", "other", "another generator, 'maker' and not 'other'"),
            ("version", "2", "another version of its generator, '1' and not '2'"),
            ("settings", {"steps": 4}, "another set of settings"),
        ],
    )
    def test_another_generator_is_named(
        self, tmp_path: Path, attribute: str, value: object, said: str
    ) -> None:
        generate_images(PROMPTS, tmp_path, generator=Maker())
        other = Maker()
        setattr(other, attribute, value)
        with pytest.raises(InputError, match=said) as refused:
            generate_images(PROMPTS, tmp_path, generator=other)
        assert "(and 5 more)" in str(refused.value)
        assert other.asked == []

    def test_other_prompts_leave_earlier_pictures(self, tmp_path: Path) -> None:
        generate_images(PROMPTS, tmp_path, generator=Maker())
        more = face_prompts(2, weights={"Fear": 1}).to_frame()
        more = more.with_columns(stimulus=pl.Series(["face-00007", "face-00008"]))
        made = generate_images(more, tmp_path, generator=Maker())
        assert made.images["stimulus"].to_list() == [f"face-{k:05d}" for k in range(1, 9)]
        assert (made.n_made, made.n_kept) == (2, 0)


class TestRemakes:
    """A picture that cannot be made again is still there, and so is its line."""

    def changed(self, **given: Any) -> Maker:
        maker = Maker(**given)
        maker.version = "2"
        return maker

    def test_a_failed_remake_leaves_the_picture(self, tmp_path: Path) -> None:
        names = PROMPTS.to_frame()["stimulus"].to_list()
        before = generate_images(PROMPTS, tmp_path, generator=Maker())
        old = files(tmp_path)
        bad = self.changed(fails=names[1:3])
        made = generate_images(PROMPTS, tmp_path, generator=bad, changed="again")
        assert made.images["stimulus"].to_list() == names
        versions = dict(made.images.select("stimulus", "generator_version").iter_rows())
        assert versions == {name: "1" if name in names[1:3] else "2" for name in names}
        assert files(tmp_path) == old
        assert made.failed.select("stimulus", "generator_version", "outcome").rows() == [
            (name, "2", "failed") for name in names[1:3]
        ]
        assert made.without().height == 0
        assert made.to_frame()["stimulus"].to_list() == names
        assert before.images.filter(stimulus=names[1]).equals(made.images.filter(stimulus=names[1]))
        # The next run tries what is missing, and only that.
        again = self.changed()
        whole = generate_images(PROMPTS, tmp_path, generator=again, changed="again")
        assert again.asked == names[1:3]
        assert whole.failed.height == 0
        assert set(whole.images["generator_version"]) == {"2"}

    def test_patience_ends_and_no_picture_is_lost(self, tmp_path: Path) -> None:
        names = PROMPTS.to_frame()["stimulus"].to_list()
        generate_images(PROMPTS, tmp_path, generator=Maker())
        with pytest.raises(InputError, match="made no picture of 2 prompts"):
            generate_images(
                PROMPTS,
                tmp_path,
                generator=self.changed(fails=names),
                changed="again",
                patience=2,
            )
        assert read_manifest(tmp_path)["stimulus"].to_list() == names
        assert pl.read_csv(tmp_path / "failed.csv")["stimulus"].to_list() == names[:2]

    @pytest.mark.parametrize("keep", [True, False])
    def test_pictures_that_are_kept_settle_failures(self, tmp_path: Path, keep: bool) -> None:
        """By being told to, or by going back to the generator that made them."""
        names = PROMPTS.to_frame()["stimulus"].to_list()
        generate_images(PROMPTS, tmp_path, generator=Maker())
        generate_images(
            PROMPTS, tmp_path, generator=self.changed(fails=names), changed="again", patience=9
        )
        back = self.changed() if keep else Maker()
        made = generate_images(
            PROMPTS, tmp_path, generator=back, changed="keep" if keep else "refuse"
        )
        assert (made.n_kept, made.failed.height, back.asked) == (6, 0, [])
        assert not (tmp_path / "failed.csv").exists()
        last = generate_images(PROMPTS, tmp_path, generator=Maker())
        assert last.failed.height == 0

    def test_a_lost_picture_that_cannot_be_made_is_none(self, tmp_path: Path) -> None:
        names = PROMPTS.to_frame()["stimulus"].to_list()
        made = generate_images(PROMPTS, tmp_path, generator=Maker())
        (tmp_path / made.images["file"][0]).unlink()
        made = generate_images(PROMPTS, tmp_path, generator=Maker(fails=names[:1]))
        assert made.images["stimulus"].to_list() == names[1:]
        assert made.without()["stimulus"].to_list() == names[:1]


class TestFailures:
    def test_a_failure_is_a_row_and_takes_nobody_along(self, tmp_path: Path) -> None:
        names = PROMPTS.to_frame()["stimulus"].to_list()
        made = generate_images(PROMPTS, tmp_path, generator=Maker(fails=[names[1]], batch=4))
        assert made.images["stimulus"].to_list() == [names[0], *names[2:]]
        assert made.failed.select("stimulus", "outcome", "problem").rows() == [
            (names[1], "failed", f"RuntimeError: out of ink for {names[1]}")
        ]
        assert made.failed["prompt"].item() == PROMPTS.to_frame()["prompt"][1]
        outcomes = dict(made.to_frame().select("stimulus", "outcome").iter_rows())
        assert outcomes == {name: "failed" if name == names[1] else "ok" for name in names}
        assert pl.read_csv(tmp_path / "failed.csv")["stimulus"].to_list() == [names[1]]
        again = generate_images(PROMPTS, tmp_path, generator=Maker())
        assert (again.n_made, again.failed.height) == (1, 0)
        assert not (tmp_path / "failed.csv").exists()

    @pytest.mark.parametrize(
        ("given", "outcome", "said"),
        [
            (RefusedPictureError("held back"), "refused", "held back"),
            (ValueError("no"), "failed", "ValueError: no"),
            ("a text", "failed", "str is no picture"),
            (b"no picture", "failed", "cannot identify image file"),
            (np.zeros((4, 4, 3)), "failed", "an array of float64 with shape (4, 4, 3)"),
            (None, "failed", "NoneType is no picture"),
        ],
    )
    def test_what_is_no_picture(
        self, tmp_path: Path, given: object, outcome: str, said: str
    ) -> None:
        one = PROMPTS.to_frame()[:1]
        made = generate_images(one, tmp_path, generator=lambda batch: [given])
        assert made.failed["outcome"].item() == outcome
        assert said in made.failed["problem"].item()
        assert made.images.height == 0
        assert (tmp_path / "manifest.csv").read_text(encoding="utf-8").startswith("stimulus,file,")

    def test_too_few_pictures(self, tmp_path: Path) -> None:
        short = ImageGenerator("short", lambda batch: [], batch=3)
        made = generate_images(PROMPTS, tmp_path, generator=short)
        assert set(made.failed["problem"]) == {"ValueError: gave 0 pictures for 1 prompts"}

    def test_patience_ends_and_nothing_is_lost(self, tmp_path: Path) -> None:
        names = PROMPTS.to_frame()["stimulus"].to_list()
        maker = Maker(fails=names[1:])
        with pytest.raises(InputError) as stopped:
            generate_images(PROMPTS, tmp_path, generator=maker, patience=3)
        assert "maker made no picture of 3 prompts in a row" in str(stopped.value)
        assert "2 were not tried" in str(stopped.value)
        assert read_manifest(tmp_path)["stimulus"].to_list() == names[:1]
        assert pl.read_csv(tmp_path / "failed.csv").height == 3


def encoded(image: Image.Image, kind: str) -> bytes:
    held = io.BytesIO()
    image.save(held, format=kind)
    return held.getvalue()


@pytest.mark.parametrize(
    "given",
    [
        grey(7),
        encoded(grey(7), "PNG"),
        encoded(grey(7), "WEBP"),
        np.full((6, 8, 3), 7, dtype=np.uint8),
        Picture(grey(7)),
        grey(7).quantize(2),
        Image.new("RGBA", (8, 6), (7, 7, 7, 255)),
    ],
)
def test_kinds_of_pictures(tmp_path: Path, given: object) -> None:
    made = generate_images(PROMPTS.to_frame()[:1], tmp_path, generator=lambda batch: [given])
    with Image.open(tmp_path / made.images["file"][0]) as image:
        seen = image.convert("RGB").getpixel((3, 3))
    assert np.abs(np.array(seen) - 7).max() <= 2


def test_a_file_tells_nothing_of_its_prompt(tmp_path: Path) -> None:
    from PIL.PngImagePlugin import PngInfo

    told = PngInfo()
    told.add_text("parameters", "a face of Awe")
    held = io.BytesIO()
    grey(1).save(held, format="PNG", pnginfo=told)
    made = generate_images(
        PROMPTS.to_frame()[:1], tmp_path, generator=lambda batch: [held.getvalue()]
    )
    assert b"Awe" not in (tmp_path / made.images["file"][0]).read_bytes()
    clear = Image.new("RGBA", (8, 6), (0, 0, 0, 0))
    made = generate_images(
        PROMPTS.to_frame()[:1], tmp_path / "clear", generator=lambda batch: [clear]
    )
    with Image.open(tmp_path / "clear" / made.images["file"][0]) as image:
        assert image.getpixel((0, 0)) == (255, 255, 255)


@settings(max_examples=25)
@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 8))
def test_any_batch_and_any_interruption_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, n: int, batch: int, stop: int
) -> None:
    """Against the plain way: one picture at a time, never interrupted."""
    wanted = PROMPTS.to_frame()[: min(n, 6)]
    names = wanted["stimulus"].to_list()
    folder = tmp_path_factory.mktemp("any")
    plain = generate_images(wanted, folder / "plain", generator=Maker())
    maker = Maker(batch=batch, stop_at=names[stop] if stop < len(names) else "")
    try:
        generate_images(wanted, folder / "out", generator=maker)
    except KeyboardInterrupt:
        maker.stop_at = ""
    made = generate_images(wanted, folder / "out", generator=maker)
    assert made.images.equals(plain.images)
    assert files(folder / "out") == files(folder / "plain")


def test_columns_of_ones_own_and_strange_names(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "stimulus": ["a/../b", "A B", "ä"],
            "prompt": ["one, two", 'a "face"\nof two lines', "=1+1"],
            "label": ["Awe", "Fear", "Awe"],
            "seed": [1, 2, 3],
            "campaign": ["x", "y", "z"],
        }
    )
    made = generate_images(table, tmp_path / "out", generator=Maker())
    assert made.images["campaign"].to_list() == ["x", "y", "z"]
    assert made.images["stimulus"].to_list() == table["stimulus"].to_list()
    for file in made.images["file"]:
        assert (tmp_path / "out" / file).resolve().parent == (tmp_path / "out/images").resolve()
    assert read_manifest(tmp_path / "out")["prompt"].to_list() == table["prompt"].to_list()
    # A manifest is a table of prompts, too.
    other = generate_images(made.path, tmp_path / "again", generator=Maker())
    assert other.images.equals(made.images)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "stimulus,prompt,label\na,A,Awe\n",
            "'seed' is missing; expected stimulus, prompt, label and seed",
        ),
        ("stimulus,prompt,label,seed\na,A,Awe,1\na,B,Awe,2\n", "'a' stands twice"),
        ("stimulus,prompt,label,seed\na,A,Awe,x\n", "row 1: seed 'x': expected a whole number"),
        ("stimulus,prompt,label,seed\na,A,Awe,-1\n", "row 1: seed '-1': expected"),
        ("stimulus,prompt,label,seed\na,A,Awe,\n", "row 1: seed is empty"),
        ("stimulus,prompt,label,seed\na,,Awe,1\n", "row 1: prompt is empty"),
        ("stimulus,prompt,label,seed,age\na,A,Awe,1,old\n", "row 1: age 'old'"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "prompts.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_prompts(file)
    assert said in str(refused.value)
    assert "prompts.csv" in str(refused.value)


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        generate_images(tmp_path / "none.csv", tmp_path)
    with pytest.raises(InputError, match="patience = 0"):
        generate_images(PROMPTS, tmp_path, patience=0)
    with pytest.raises(InputError, match="unknown way with changed pictures 'no'"):
        generate_images(PROMPTS, tmp_path, changed="no")  # type: ignore[arg-type]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file; expected a folder"):
        generate_images(PROMPTS, tmp_path / "file")
