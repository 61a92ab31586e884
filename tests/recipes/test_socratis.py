"""The recipe of Socratis: printed figures, the grammar, the file, and the chain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from affectlab.core.errors import InputError
from affectlab.recipes import Finding, load_published, reproduce
from affectlab.recipes.socratis.findings import published_notes
from affectlab.recipes.socratis.grammar import FEELINGS, THINGS, caption_of, fit_of, reason_of
from affectlab.recipes.socratis.pairs import Pairs, make_pairs
from affectlab.recipes.socratis.people import PER_PAIR, People, ask_people, checked_reactions

pytestmark = pytest.mark.long


def test_printed_figures_are_those_of_the_paper() -> None:
    found = {figure.key: figure.value for figure in load_published("socratis").figure}
    assert (found["data.reactions"], found["data.emotions"], found["data.pairs"]) == (
        18378,
        980,
        2075,
    )
    table = [found[f"study.{name}"] for name in ("machine", "human", "both_good", "both_bad")]
    assert table == [91, 233, 47, 11]
    assert sum(table) == found["study.decided"]
    assert found["study.ratio"] == pytest.approx(233 / 91)
    assert [found[f"table2.bart.{name}"] for name in ("machine", "human", "both")] == [
        -5.48,
        -5.42,
        -5.54,
    ]


def test_the_counts_support_over_two_times_and_marks_are_explained() -> None:
    counts, *marked = published_notes()
    assert "2.56 times as often, with an interval of 2.00 to 3.30" in counts
    assert [note.split(":")[0] for note in marked] == [
        "† Image-caption pairs",
        "† People per pair, mean",
    ]


def test_every_reason_of_the_grammar_fits_its_own_emotion_and_thing() -> None:
    rng = np.random.default_rng(0)
    for label in FEELINGS:
        for thing in THINGS:
            text = reason_of(label, thing, "awe", rng)
            assert fit_of(text, label, thing, "awe") >= 1.5
            other = "sadness" if FEELINGS[label].positive else "awe"
            assert fit_of(text, other, thing, "awe") <= -0.25
            assert fit_of(text, label, "the moon", "awe") <= 0.75
            # What is told in captions is no reason.
            assert fit_of(caption_of(label, thing, rng), label, thing, "awe") == 0.5


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    return make_pairs(46, tmp_path_factory.mktemp("pictures"), seed=1)


@pytest.fixture(scope="module")
def people(pairs: Pairs) -> People:
    return ask_people(pairs, seed=1)


def test_pairs_come_in_two_strata(pairs: Pairs) -> None:
    assert pairs.stimuli["stratum"].value_counts().sort("stratum").rows() == [
        ("conflict", 10),
        ("random", 36),
    ]
    assert set(pairs.stimuli.filter(stratum="conflict")["source"]) == {"stock pictures"}
    assert all(pair.image.is_file() for pair in pairs.pairs)
    assert all(pair.thing in pair.caption.lower() for pair in pairs.pairs)


def test_ten_people_react_to_each_pair(people: People) -> None:
    per_pair = people.reactions.frame.group_by("stimulus").agg(pl.col("rater").n_unique())
    assert set(per_pair["rater"]) == {PER_PAIR}


def test_careless_people_are_found_and_personal_data_is_masked(people: People) -> None:
    checked = checked_reactions(people)
    left = set(checked.table["rater"])
    assert not left & set(people.careless)
    assert len(left) == people.reactions.n_raters - len(people.careless)
    texts = " ".join(checked.table["text"])
    assert people.n_personal > 0
    assert "emily.clark@example.org" not in texts
    assert "212-555-0142" not in texts
    assert "Walker" not in texts
    assert set(checked.meant.values()) <= set(FEELINGS)


def test_the_same_seed_gives_the_same_reactions(pairs: Pairs, people: People) -> None:
    assert ask_people(pairs, seed=1).reactions.equals(people.reactions)
    assert not ask_people(pairs, seed=2).reactions.equals(people.reactions)


def published_file(folder: Path, people: People) -> Path:
    """Write reactions in the published layout."""
    rows = people.reactions.to_frame().join(people.reactions.stimuli, on="stimulus", how="left")
    entries: dict[tuple[str, str], list[object]] = {}
    for row in rows.iter_rows(named=True):
        name = Path(row["image"]).name
        empty: list[object] = [name, row["caption"], [], [], {"worker": row["rater"]}]
        entry = entries.setdefault((str(row["stimulus"]), str(row["rater"])), empty)
        entry[2].append(row["emotion"])  # type: ignore[attr-defined]
        entry[3].append(row["text"])  # type: ignore[attr-defined]
    said: dict[str, list[object]] = {}
    for (pair, _), entry in entries.items():
        said.setdefault(pair, []).append(entry)
    # As the README of the release names it.
    file = folder / "imCaptionEmotionExplanation_formatted.json"
    file.write_text(json.dumps(said), encoding="utf-8")
    return file


def test_the_published_layout_is_counted(tmp_path: Path, people: People) -> None:
    published_file(tmp_path, people)
    found = reproduce("socratis", data=tmp_path, quick=True)
    rows = {row.figure.key: row for row in found.rows}
    frame = people.reactions.frame
    assert rows["data.reactions"].finding.value == frame.height
    assert rows["data.emotions"].finding.value == frame["emotion"].str.to_lowercase().n_unique()
    assert rows["data.pairs"].finding.value == 46
    assert rows["data.raters_per_pair"].finding.value == PER_PAIR
    assert rows["data.pairs"].verdict == "no verdict: 46 pairs are not the 2,075 of the paper"
    # What is not measured by BARTScore is not set beside what is.
    assert rows["quality.agreement"].verdict.startswith("no verdict: no folder models/bart")
    # Table 3 needs texts of machines and images; the judgements have nothing to do with it.
    why = rows["table3.text.clip"].finding.why
    assert all(need in why for need in ("BLIP-2", "FLAN-T5", "images", "CLIP", "no judgements"))
    assert "human study" not in why
    assert "judgements of the human study" in rows["study.human"].finding.why
    assert not found.failures
    notes = " ".join(found.notes)
    assert "nan" not in notes
    assert "By shared words in place of BARTScore" in notes
    assert "46 of 46 images are missing in images/" in notes
    assert "kdeng55.github.io/socratis-website" in notes
    assert [one.name for one in found.figures] == ["emotion_words", "pair_emotions"]
    assert found.provenance["seeds"] == [0]


def test_without_the_file_it_says_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(
        InputError,
        match=r"imCaptionEmotionExplanation_formatted\.json \(18,378 reactions .* --simulate",
    ):
        reproduce("socratis", data=tmp_path)


def test_the_whole_chain_on_a_small_scale() -> None:
    pytest.importorskip("transformers")
    from affectlab.recipes.socratis.recipe import Size, run_simulation

    parts: list[str] = []
    run = run_simulation(Size(36, 60, (60, 40, 40)), 3, parts.append)
    assert set(run.findings) == {figure.key for figure in load_published("socratis").figure}
    study = {key: found.value for key, found in run.findings.items() if key.startswith("study.")}
    assert study["study.sampled"] == 60
    table = [study[f"study.{name}"] for name in ("machine", "human", "both_good", "both_bad")]
    assert sum(value for value in table if value is not None) == study["study.decided"]
    assert any("planted fit" in note for note in run.notes)
    assert parts[-1] == "metrics"
    drawn = {one.name: one for one in run.figures}
    assert set(drawn) == {
        "emotion_words",
        "examples",
        "metrics_by_verdict",
        "metrics_by_writer",
        "pair_emotions",
        "preference_by_item",
        "preference_metrics",
        "verdicts",
    }
    _check_verdicts(drawn["verdicts"].draw(), study)
    _check_means(drawn["metrics_by_writer"].draw(), run.findings)
    # Pictures outlive the folder that they were drawn in.
    seen = drawn["examples"].draw()
    # A picture and what was said beside it.
    assert len(seen.axes) == 2 * drawn["examples"].description.count(" judges: ")
    names = [
        text.get_text() for text in drawn["preference_metrics"].draw().axes[0].get_yticklabels()
    ]
    assert {"BARTScore", "CLIPScore", "RefCLIPScore"} < set(names)
    for one in run.figures:
        assert one.title
        assert one.description
        assert one.draw().axes


def _check_verdicts(figure: Figure, study: dict[str, float | None]) -> None:
    """Bars are the shares of the decided items."""
    (axes,) = figure.axes
    names = [text.get_text().replace(" ", "_") for text in axes.get_yticklabels()]
    widths = [bar.get_bbox().width for bar in axes.patches if isinstance(bar, Rectangle)]
    counts = {
        "machine_better": study["study.machine"],
        "human_better": study["study.human"],
        "both_good": study["study.both_good"],
        "both_bad": study["study.both_bad"],
    }
    decided = study["study.decided"]
    assert decided
    assert set(names) == set(counts)
    assert widths == pytest.approx([(counts[name] or 0) / decided for name in names])


def _check_means(figure: Figure, found: Mapping[str, Finding]) -> None:
    """Dots are the means of Table 3."""
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["CLIPScore", "RefCLIPScore"]
    for axes, short in zip(figure.axes, ("clip", "refclip"), strict=True):
        dots = np.concatenate([np.asarray(part.get_offsets()) for part in axes.collections[1::2]])
        means = [found[f"table3.{who}.{short}"].value for who in ("multimodal", "text")]
        assert dots[:, 0].tolist() == pytest.approx(means)
