"""The recipe of EmoNet-Face: printed figures, the real files, and what a small file of HQ gives."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.evaluation.people_and_models import sides
from affectlab.ratings import read_ratings
from affectlab.recipes import load_published, reproduce
from affectlab.recipes.emonet_face.agreement import (
    MODELS,
    OWN,
    PEOPLE,
    STAND_INS,
    compare,
    hq_findings,
    inconsistencies,
    key_of,
    paper_name,
)
from affectlab.recipes.emonet_face.consensus import binary_alpha, votes_by_label
from affectlab.recipes.emonet_face.data import with_reasons
from affectlab.recipes.emonet_face.human_level import human_level
from affectlab.recipes.emonet_face.people import ask_experts, ask_models, faces
from affectlab.recipes.recipe import SETTING
from affectlab.report.statistics.study import Study

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def printed() -> dict[str, float]:
    return {figure.key: figure.value for figure in load_published("emonet_face").figure}


# -- what is printed -----------------------------------------------------------------------------


def test_printed_counts_fit_each_other(printed: dict[str, float]) -> None:
    batches = [printed[f"binary.batch{k}.items"] for k in range(1, 5)]
    assert sum(batches) == printed["binary.answers"]
    for k in (2, 3):
        share = printed[f"binary.batch{k}.items"] / printed["binary.images"]
        assert share == pytest.approx(printed[f"binary.batch{k}.share"], abs=0.00005)
    confirmed = printed["binary.batch2.agreement"] * printed["binary.batch2.items"]
    assert round(confirmed) == pytest.approx(printed["binary.batch3.items"], abs=1)
    assert printed["hq.annotations"] == printed["hq.images"] * printed["hq.raters_per_image"]
    judged = printed["preference.human"] + printed["preference.model"]
    assert judged == printed["preference.images"]
    share = printed["preference.human"] / printed["preference.images"]
    assert share == pytest.approx(printed["preference.share"], abs=0.00005)


def test_printed_table_6_is_sorted_and_gives_the_printed_difference(
    printed: dict[str, float],
) -> None:
    means = [value for key, value in printed.items() if re.fullmatch(r"table6\..*\.mean", key)]
    assert len(means) == len(PEOPLE) + len(MODELS) == 22
    assert means == sorted(means, reverse=True)
    people = np.mean([printed[f"table6.{name}.mean"] for name in PEOPLE])
    own = np.mean(
        [printed[f"table6.{key_of(name)}.mean"] for name, kind in MODELS.items() if kind == OWN]
    )
    assert people - own == pytest.approx(printed["test.difference"], abs=0.0005)


def test_marked_figures_cannot_be_right(printed: dict[str, float]) -> None:
    marked = {figure.key for figure in load_published("emonet_face").figure if figure.inconsistent}
    assert marked == {"table5.annotator3", "table3.models"}
    for k in (1, 2, 3):
        count = printed[f"table5.annotator{k}"] * printed["table5.images"]
        whole = abs(count - round(count)) < 0.00005 * printed["table5.images"]
        assert whole == (f"table5.annotator{k}" not in marked)
    assert sum(line.startswith("†") for line in inconsistencies()) == 2


def test_names_of_stand_ins_lead_to_the_rows_of_the_paper(printed: dict[str, float]) -> None:
    for name, short in STAND_INS.items():
        assert paper_name(short) == paper_name(name) == name
        assert f"table6.{key_of(short)}.mean" in printed
        # Names longer than this are cut in the heat map, where MS and ZS would be lost.
        assert len(short) <= 20


# -- the published files -------------------------------------------------------------------------


@pytest.mark.data
def test_the_published_binary_file(shared_data: Path) -> None:
    found = reproduce("emonet-face", data=shared_data, quick=True)
    assert not found.failures
    rows = {row.figure.key: row for row in found.rows}
    assert all(row.own_data for row in found.rows)
    judged = {key for key, row in rows.items() if not row.verdict.startswith("no verdict")}
    assert {rows[key].verdict for key in judged} == {"reproduced", "inside bounds"}
    assert {"binary.batch2.agreement", "binary.batch3.agreement", "taxonomy.emotions"} <= judged
    # What is taken from the paper is not held against it.
    for size in ("small", "big"):
        assert rows[f"heads.{size}.parameters"].verdict == f"no verdict: {SETTING}"
    assert rows["heads.width"].verdict.startswith("no verdict: taken from the paper")
    assert rows["table3.models"].verdict == "no verdict: hq.csv is not there"
    assert found.provenance["seeds"] == [42]
    assert rows["table6.human-1.mean"].verdict == "no verdict: hq.csv is not there"
    for key, row in rows.items():
        finding = row.finding
        assert key in judged or finding.why or finding.doubt or row.figure.is_marked, key
    # Alpha of the file, by the definition: 14,670 cells, each with a yes.
    alpha = next(note for note in found.notes if note.startswith("Binary alpha"))
    assert "it is −0.161" in alpha
    assert "−0.72 to −0.40" in alpha
    need = next(note for note in found.notes if "hq.csv" in note)
    for part in ("LAION-AI/emonet-face", "laion/emonet-face-hq", "CC BY 4.0", "--simulate"):
        assert part in need
    assert [one.name for one in found.figures] == ["consensus-flow", "binary-votes"]


@pytest.mark.data
def test_votes_of_the_published_binary_file(shared_data: Path) -> None:
    votes = votes_by_label(read_ratings(shared_data / "emonet_face" / "binary.csv"))
    counts = votes.drop("label").to_numpy()
    assert counts.sum() == 14670
    assert counts.sum(axis=0).tolist() == [3652, 1943, 9075]
    assert votes["label"][0] == "Sexual Lust"
    assert votes["label"][-1] == "Elation"


def test_alpha_of_a_sequential_protocol_is_below_zero(tmp_path: Path) -> None:
    # By hand: two cells, each a yes and a no, so that all 4 coincidences are of unlike answers;
    # alpha = 1 - (4 - 1) * 4 / (2 * 2 * 2) = -1/2.
    header = ("path", "annotator", "value", "emotion")
    rows = [("a", "1", "True", "Pain"), ("a", "2", "False", "Pain")]
    rows += [("b", "1", "True", "Pain"), ("b", "2", "False", "Pain")]
    file = tmp_path / "binary.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([header, *rows])
    found, note = binary_alpha(read_ratings(file), n_boot=0, seed=0, published=False)
    assert found["binary.alpha"].value == pytest.approx(-0.5)
    assert found["binary.alpha.pain"].value == pytest.approx(-0.5)
    assert "−0.500" in note
    told, _ = binary_alpha(read_ratings(file), n_boot=0, seed=0, published=True)
    assert told["binary.alpha"].value is None
    assert "not told" in told["binary.alpha"].why


# -- a file of HQ --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write simulated answers in the published layout, with names as published."""
    made = tmp_path_factory.mktemp("emonet")
    shown = faces(60, seed=5)
    people = ask_experts(shown, seed=5).answers()
    models = ask_models(shown, people, seed=5)
    with (made / "hq.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(("image", "annotator", "human", "annotations"))
        for side, human in ((people, True), (models, False)):
            frame = side.frame.select("stimulus", "rater", "label", "value").cast({"label": str})
            for (stimulus, rater), rows in frame.group_by("stimulus", "rater", maintain_order=True):
                name = paper_name(str(rater))
                unit = 7.0 if name == "Hume Face*" else 1.0
                # Zeros are left out, as people leave out what they do not see.
                given = {
                    label: value / unit
                    for label, value in rows.select("label", "value").iter_rows()
                    if value or label == "Elation"
                }
                writer.writerow((stimulus, name, human, str(given)))
    with (made / "binary.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(("path", "annotator", "value", "emotion"))
        for k in range(30):
            writer.writerow((f"{k:05d}", "human-1", "True", "Pain"))
            writer.writerow((f"{k:05d}", "human-2", str(k % 3 > 0), "Pain"))
    return made


def test_people_keep_their_steps_beside_models_with_fractions(folder: Path) -> None:
    ratings = read_ratings(folder / "hq.csv")
    assert ratings.scale.step is None
    both = sides(ratings)
    people, models = both.people, both.models
    assert (people.scale.kind, people.scale.step) == ("ordinal", 1.0)
    assert models.scale.step is None
    # Each expert rated 40 emotions of an image, those left out as 0.
    assert people.n_ratings == 40 * people.frame.select("stimulus", "rater").unique().height


def test_a_file_of_hq_gives_the_tables(folder: Path) -> None:
    found = reproduce("emonet-face", data=folder, quick=True)
    assert not found.failures
    rows = {row.figure.key: row for row in found.rows}
    assert rows["hq.images"].finding.value == 60
    # Another sample than the paper's has no verdict on anything.
    assert rows["hq.images"].verdict == "no verdict: 60 images are not the 2,500 of the paper"
    assert rows["hq.annotations"].finding.value == 240
    assert rows["hq.raters"].difference == rows["hq.raters_per_image"].difference == 0
    assert all(row.verdict.startswith("no verdict: ") for row in found.rows)
    assert rows["table3.models"].finding.value == 8
    assert rows["table3.gemini.images"].finding.value == round(1847 / 2500 * 60)
    assert rows["table6.human-1.mean"].finding.value is not None
    # Heads are not in this file, so that nothing is said of them.
    assert rows["test.difference"].verdict == "no verdict: not in this hq.csv"
    assert rows["table6.empathic-insight-face-large.mean"].finding.value is None
    assert [entry["file"] for entry in found.provenance["inputs"]] == ["binary.csv", "hq.csv"]
    assert {one.name for one in found.figures} >= {"agreement-pairs", "human-level", "spearman"}
    assert any("filled with 0" in note for note in found.notes)


def test_a_folder_with_hq_alone_gives_its_part(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "hq.csv").write_bytes((folder / "hq.csv").read_bytes())
    found = reproduce("emonet-face", data=tmp_path, quick=True)
    assert not found.failures
    rows = {row.figure.key: row for row in found.rows}
    assert rows["binary.answers"].verdict == "no verdict: binary.csv is not there"
    assert rows["hq.raters"].difference == 0
    assert any("binary.csv (65,686 yes/no answers" in note for note in found.notes)


def test_the_verbs_give_what_the_recipe_gives(folder: Path) -> None:
    """One file, one meaning of what was left out: one number, and one verdict."""
    file = folder / "hq.csv"
    both = sides(read_ratings(file))
    compared = compare(both.people, both.models, n_boot=0, seed=42)
    level = human_level(compared, seed=42)
    findings = hq_findings(compared)

    def result(*verb: str) -> dict[str, Any]:
        done = run_here(*verb, file, "--seed", "42", "--json")
        found: dict[str, Any] = json.loads(done.stdout)
        assert any("filled with 0" in text for text in found["warnings"])
        return found["result"]

    beside = result("evaluate", "alignment")
    verdicts = {row["rater"]: row["verdict"] for row in beside["models"]}
    assert verdicts == level.verdicts
    assert set(level.verdicts.values()) > {"below"}
    for name in ("agreement", "difference", "spearman"):
        given = [row[name] for row in beside["models"]]
        np.testing.assert_allclose(given, level.to_frame()[name], rtol=1e-9)
    published = result("emonet-face", "published", "--n-boot", "40")
    kinds = {row["pair_kind"]: row["mean"] for row in published["kinds"]}
    assert kinds["human-human"] == pytest.approx(findings["hq.kappa"].value)
    # Of models with fractions, too: one rule, that of the study.
    fractions = read_ratings(file).models().value
    assert (fractions != np.rint(fractions)).any()
    for row in published["raters"]:
        key = f"table6.{key_of(row['rater'])}.mean"
        if key in findings:
            assert row["mean"] == pytest.approx(findings[key].value, abs=1e-12)
    assert any("as the study does" in note for note in published["notes"])

    alphas = {
        row["label"]: row["value"]
        for row in result("reliability", "agreement")["krippendorff_alpha"]
    }
    for label in ("Elation", "Anger"):
        assert alphas[label] == pytest.approx(findings[f"hq.alpha.{label.lower()}"].value)

    report = Study(read_ratings(file), n_boot=40, seed=42).beside.alignment
    assert report is not None
    assert report.verdicts == level.verdicts
    assert report.sentences == level.sentences

    # The other meaning is another table, and says so.
    missing = read_ratings(file, absent="missing")
    assert missing.humans().n_ratings < both.people.n_ratings
    assert missing.history[-1]["published_zero"] is True


def test_table_6_is_the_mean_over_people_and_then_emotions(folder: Path) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    both = sides(read_ratings(folder / "hq.csv"))
    people, models = both.people, both.models
    found = hq_findings(compare(people, models, n_boot=0, seed=0))
    wanted = []
    hume = models.select(raters="Hume Face*")
    for label in people.label_names:
        theirs = dict(hume.select(labels=label).frame.select("stimulus", "value").iter_rows())
        kappas = []
        for person in people.rater_names:
            own = people.select(raters=person, labels=label).frame
            pairs = [(value, int(theirs[name])) for name, value in own["stimulus", "value"].rows()]
            a, b = np.array(pairs, dtype=int).T
            if a.any() or b.any():
                kappas.append(sklearn.cohen_kappa_score(a, b, weights="quadratic", labels=range(8)))
        if kappas:
            wanted.append(np.mean(kappas))
    row = found["table6.hume-face.mean"]
    assert row.value == pytest.approx(np.mean(wanted), abs=1e-9)
    assert found["table6.hume-face.sd"].value == pytest.approx(np.std(wanted, ddof=1), abs=1e-9)
    assert found["table6.hume-face.best"].value == pytest.approx(max(wanted), abs=1e-9)


def test_every_figure_without_a_value_says_why() -> None:
    assert all(one.why for one in with_reasons({}).values())
    assert {one.why for one in with_reasons({}, why="asked").values()} == {"asked"}


def test_missing_data_names_both_files(tmp_path: Path) -> None:
    both = r"does not hold binary\.csv .*LAION-AI/emonet-face.*CC BY 4\.0.* hq\.csv .*"
    with pytest.raises(InputError, match=both + r"laion/emonet-face-hq.*CC BY 4\.0.*--simulate"):
        reproduce("emonet-face", data=tmp_path)
