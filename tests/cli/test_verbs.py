"""The command line, run as a user runs it: what it prints, and how it ends."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_apart, run_here


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here(*arguments, code=code)


def result(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """Run with ``--json`` and give the object; nothing else may be on standard output."""
    content = json.loads(run(*arguments, "--json", code=code).stdout)
    assert set(content) == {"schema", "command", "result", "warnings"}
    return content


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    file = tmp_path / "ratings.csv"
    rows = ["image,annotator,emotion,rating"]
    for image in range(6):
        for annotator, bias in (("anna", 0), ("ben", 1), ("gpt", 2)):
            for emotion, base in (("joy", image), ("fear", 5 - image)):
                rows.append(f"{image:03d},{annotator},{emotion},{min(base + bias, 7)}")
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def raters(tmp_path: Path) -> Path:
    file = tmp_path / "raters.csv"
    file.write_text("rater,rater_kind,age\nanna,human,31\nben,human,44\ngpt,model,\n")
    return file


def test_version() -> None:
    from affectlab import __version__

    assert run_apart("--version").stdout == f"affectlab {__version__}\n"


def test_what_a_file_holds(ratings: Path, raters: Path) -> None:
    content = result("ratings", "describe", ratings, "--scale", "0-7", "--raters", raters)
    found = content["result"]["summary"]
    assert content["schema"] == "affectlab/ratings-describe/1"
    assert (found["n_ratings"], found["n_stimuli"], found["n_raters"], found["n_labels"]) == (
        36,
        6,
        3,
        2,
    )
    assert set(found["scales"].values()) == {"ordinal 0 to 7, step 1"}
    assert found["set_aside"] == []
    assert found["rater_kinds"] == {"human": 2, "model": 1}
    text = run("ratings", "describe", ratings, "--scale", "0-7").stdout
    assert "36" in text
    assert "ordinal 0 to 7" in text


def test_inferred_scale_is_a_note_and_quiet_silences_it(ratings: Path) -> None:
    convert = ("ratings", "convert", ratings, "--out", ratings.with_name("again.csv"))
    assert "note:" in run(*convert).stderr
    assert "note:" not in run(*convert, "--quiet").stderr
    assert "inferred" in run("ratings", "describe", ratings).stdout
    assert any("inferred" in text for text in result("ratings", "describe", ratings)["warnings"])


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("stimulus,rater,value\na,r,1\na,r,2\n", [], ["line 3", "second answer", "'a'", "'r'"]),
        ("stimulus,rater,value\na,r,9\n", ["--scale", "0-7"], ["line 2", "9", "0 to 7"]),
        ("stimulus,rater,value\na,r,x1\nb,r,2\n", [], ["line 2", "'x1'", "a number"]),
        ("stimulus,value\na,1\n", [], ["rater", "stimulus, value"]),
        (
            "stimulus,rater,label,value\na,r,angre,1\n",
            ["--taxonomy", "ekman"],
            ["line 2", "'angre'", "'anger'"],
        ),
        ("", [], ["is empty"]),
        ("stimulus,rater,value\n", [], ["no rows"]),
        ("stimulus,rater,value\na,r,1\n", ["--scale", "zero to seven"], ["zero to seven", "0-7"]),
        ("stimulus,rater,value\na,r,1\n", ["--columns", "stimulus:a"], ["role=column"]),
        ("stimulus,rater,value\na,r,1\n", ["--format", "goemotion-raw"], ["goemotions-raw"]),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    tmp_path: Path, content: str, options: list[str], words: list[str]
) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(content, encoding="utf-8")
    done = run("reliability", "agreement", file, *options, code=2)
    assert done.stdout == ""
    assert run("ratings", "describe", file, *options, code=2).stderr == done.stderr
    assert done.stderr.startswith("affectlab: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_check_counts_what_it_sets_aside(tmp_path: Path) -> None:
    file = tmp_path / "some.csv"
    file.write_text("stimulus,rater,value\na,r,1\nb,r,99\nc,r,\n", encoding="utf-8")
    content = result("ratings", "describe", file, "--scale", "0-7", "--set-aside", code=1)
    summary = content["result"]["summary"]
    assert summary["n_ratings"] == 1
    aside = {(part["unit"], part["reason"]): part for part in summary["set_aside"]}
    assert sum(part["count"] for (unit, _), part in aside.items() if unit == "row") == 2
    assert aside["stimulus", "without any answer that can be used"]["places"] == ["b", "c"]
    said = run("ratings", "describe", file, "--scale", "0-7", "--set-aside", code=1).stdout
    assert "1 answer" in said
    assert "line 3" in said
    good = tmp_path / "good.csv"
    good.write_text("stimulus,rater,value\na,r,1\n", encoding="utf-8")
    run("ratings", "describe", good, "--scale", "0-7", "--set-aside")


def test_wide_files(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("item,anna,ben\n007,1,2\n1e5,3,\n", encoding="utf-8")
    for wide in (["--wide"], ["--wide", "raters"]):
        found = result("ratings", "describe", file, *wide, "--scale", "0-7")["result"]["summary"]
        assert (found["n_ratings"], found["n_stimuli"], found["n_raters"]) == (3, 2, 2)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_convert_round_trips(ratings: Path, raters: Path, tmp_path: Path, suffix: str) -> None:
    from affectlab.ratings import read_ratings

    to = tmp_path / f"out{suffix}"
    run("ratings", "convert", ratings, "--out", to, "--scale", "0-7", "--raters", raters)
    original = read_ratings(ratings, scale="0-7", raters=raters)
    assert read_ratings(to).equals(original)


def test_agreement(ratings: Path, raters: Path) -> None:
    found = result(
        "reliability", "agreement", ratings, "--scale", "0-7", "--raters", raters, "--n-boot", "50"
    )["result"]
    assert {row["label"] for row in found["krippendorff_alpha"]} == {"fear", "joy"}
    assert {row["pair_kind"] for row in found["kappa"]} == {"human-human", "human-model"}
    assert all(-1 <= row["low"] < row["high"] <= 1 for row in found["krippendorff_alpha"])


def test_scores(ratings: Path, tmp_path: Path) -> None:
    to = tmp_path / "scores.csv"
    run("reliability", "scores", ratings, "--scale", "0-7", "--out", to)
    assert len(to.read_text().splitlines()) == 1 + 12


def test_taxonomies(tmp_path: Path) -> None:
    names = [entry["name"] for entry in result("taxonomy", "show")["result"]["taxonomies"]]
    wanted = {"ekman", "mikels", "plutchik", "goemotions", "emonet_face", "emotic", "russell"}
    assert wanted <= set(names)
    costs = result("taxonomy", "show", "mikels", "--costs")["result"]
    assert list(costs["matrix"][0].values()) == ["amusement", 1, 2, 3, 4, 8, 7, 6, 5]
    assert "amusement" in run("taxonomy", "show", "mikels").stdout
    assert "did you mean 'mikels'" in run("taxonomy", "show", "mikel", code=2).stderr
    bad = tmp_path / "bad.toml"
    bad.write_text("name = 'bad'\n", encoding="utf-8")
    assert str(bad) in run("taxonomy", "show", bad, code=2).stderr


def test_report_writes_what_it_says(ratings: Path, raters: Path, tmp_path: Path) -> None:
    found = result(
        *("report", ratings, "--scale", "0-7", "--raters", raters),
        *("--out", tmp_path / "out", "--n-boot", "20", "--title", "A title"),
    )["result"]
    assert "A title" in Path(found["html"]).read_text(encoding="utf-8")
    for file in (*found["tables"], *found["figures"]):
        assert Path(file).stat().st_size > 0


@pytest.mark.data
def test_published_file_is_recognised(shared_data: Path) -> None:
    file = shared_data / "emonet_face" / "binary.csv"
    found = result("ratings", "describe", file)["result"]["summary"]
    assert (found["n_ratings"], found["n_stimuli"], found["n_raters"], found["n_labels"]) == (
        65686,
        19999,
        7,
        40,
    )
    batches = {
        batch["batch"]: batch
        for batch in result("emonet-face", "consensus", file)["result"]["batches"]
    }
    assert batches[2]["items"] == 14670
    assert round(batches[2]["agreement"], 4) == 0.7511
    assert batches[3]["items"] == 11018
    assert round(batches[3]["agreement"], 4) == 0.8237


def test_categories_and_who_is_right(tmp_path: Path) -> None:
    file = tmp_path / "chosen.csv"
    rows = [
        f"s{s},r{r},{('joy', 'fear')[(s % 2) if r < 3 else s // 2 % 2]}"
        for s in range(24)
        for r in range(4)
    ]
    file.write_text("stimulus,rater,value\n" + "\n".join(rows) + "\n", encoding="utf-8")
    arguments = (
        "reliability",
        "scores",
        "--method",
        "dawid-skene",
        file,
        "--scale",
        "nominal:joy,fear",
        "--n-draws",
        "50",
    )
    found = result(*arguments, "--figures", tmp_path / "figures")["result"]
    assert [row["beyond_chance"] > 0.7 for row in found["raters"]] == [True, True, True, False]
    assert found["consensus"][1]["category"] == "fear"
    assert "r3" in run(*arguments).stdout
    assert (tmp_path / "figures" / "rater_accuracy.png").stat().st_size > 0


def test_names_are_neither_markup_nor_control_codes(tmp_path: Path) -> None:
    file = tmp_path / "hostile.csv"
    names = ["[/]", "[red]x[/red]", "joy\x1b[2J", ":smile:", "[link=http://x]y[/link]"]
    rows = ["stimulus,rater,label,value"]
    for number, name in enumerate(names):
        for rater in ("[bold]a[/bold]", "b\x1b]0;x\x07"):
            rows += [f"s{item},{rater},{name},{(item + number) % 8}" for item in range(4)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    for verb in (["ratings", "describe"], ["reliability", "agreement"], ["reliability", "scores"]):
        text = run(*verb, file, "--scale", "0-7").stdout
        assert "\x1b" not in text
        assert "[red]x[/red]" in text
        assert ":smile:" in text
    wrong = run("ratings", "describe", file, "--taxonomy", "ekman", code=2).stderr
    assert "\x1b" not in wrong


@pytest.mark.parametrize(
    "arguments",
    [
        ["reliability", "scores", "{file}", "--out", "{folder}/none/x.csv"],
        ["reliability", "scores", "{file}", "--out", "{file}/sub"],
        ["report", "{file}", "--out", "{file}/sub"],
        ["demo", "--out", "{file}"],
        ["taxonomy", "show", "mikels", "--costs", "--out", "{folder}/none/x.csv"],
        ["reproduce", "emonet-face", "--simulate", "--quick", "--out", "{file}"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_places_that_cannot_be_written(arguments: list[str], ratings: Path, tmp_path: Path) -> None:
    filled = [part.format(file=ratings, folder=tmp_path) for part in arguments]
    done = run(*filled, code=2)
    assert done.stderr.splitlines()[-1].startswith("affectlab: ")
    assert "Traceback" not in done.stderr


def test_people_alone_are_scored_unless_all_are_wanted(ratings: Path, raters: Path) -> None:
    options = ("--scale", "0-7", "--raters", raters, "--method", "mean")
    people = result("reliability", "scores", ratings, *options)["result"]
    everyone = result("reliability", "scores", ratings, *options, "--all")["result"]
    assert people["panel"] == "2 people; 1 model not used here"
    assert people["scores"][0]["n_raters"] == 2
    assert everyone["scores"][0]["n_raters"] == 3


def test_subject_model_scores(ratings: Path, raters: Path, tmp_path: Path) -> None:
    options = ("--scale", "0-7", "--all", "--method", "reml", "--out", tmp_path / "all")
    run("reliability", "scores", ratings, *options)
    for table, rows in (("scores", 12), ("raters", 6)):
        assert len((tmp_path / "all" / f"{table}.csv").read_text().splitlines()) == 1 + rows


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers of five people on a slider, and an exact copy of one of them."""
    rng = np.random.default_rng(0)
    answers = np.clip(np.round(rng.uniform(10, 90, 60) + rng.normal(0, 9, (5, 60))), 0, 100)
    names = ["ann", "bob", "cem", "dan", "eve"]
    rows = [(f"s{j}", name, x) for name, own in zip(names, answers, strict=True)
            for j, x in enumerate(own)]  # fmt: skip
    rows += [(stimulus, "fay", x) for stimulus, name, x in rows if name == "bob"]
    path = tmp_path_factory.mktemp("copied") / "ratings.csv"
    pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row").write_csv(path)
    return path


@pytest.mark.parametrize(
    ("method", "effect"),
    [("reml", "they count as one rater"), ("mean", "the mean counts both")],
)
def test_scores_name_a_copied_account(copied: Path, method: str, effect: str) -> None:
    options = ("reliability", "scores", copied, "--scale", "0-100 interval", "--method", method)
    words = "raters 'bob' and 'fay' answer alike: 60 shared stimuli, 100% of answers equal"
    (note,) = result(*options)["result"]["notes"]
    assert note.startswith(words)
    assert note.endswith(effect)
    assert words in " ".join(run(*options).stdout.split())


def test_screening_and_report_name_a_copied_account(copied: Path, tmp_path: Path) -> None:
    scale = ("--scale", "0-100 interval")
    shown = run("reliability", "screen", copied, *scale).stdout
    assert "answers like rater 'fay'" in " ".join(shown.split())
    run("report", copied, *scale, "--out", tmp_path)
    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Raters 'bob' and 'fay' answer alike" in page


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers of a simulated panel with a straight-liner and a reversed rater, and two models."""
    from affectlab.simulate import demo_study

    return demo_study(1, identities=2).ratings.write(tmp_path_factory.mktemp("study") / "r.csv")


def test_split_half(study: Path) -> None:
    content = result(
        "reliability",
        "agreement",
        "--method",
        "split-half",
        study,
        "--n-splits",
        "5",
        "--config",
        "scorer=mean",
    )
    rows = content["result"]["split_half"]
    assert len(rows) == 8
    assert all(abs(row["value"]) < abs(row["corrected"]) <= 1 for row in rows)
    assert (
        "corrected"
        in run(
            "reliability", "agreement", "--method", "split-half", study, "--n-splits", "2"
        ).stdout
    )


def test_ppca(study: Path, tmp_path: Path) -> None:
    to = tmp_path / "ppca"
    found = result(
        "analyze", "labels", "--show", "dimensions", study, "--config", "n_splits=2", "--out", to
    )["result"]
    assert len(found["components"]) == 8
    assert len((to / "loadings.csv").read_text().splitlines()) == 1 + 8


def test_plan(study: Path, tmp_path: Path) -> None:
    to = tmp_path / "curve.csv"
    options = ("--goal", "2.5", "--label", "awe", "--n-raters", "2,4,8,16", "--out", to)
    found = result("reliability", "plan", study, *options, "--figures", tmp_path)["result"]
    assert [row["raters"] for row in found["plan"]] == [2, 4, 8, 16]
    assert found["recommendation"][0]["raters"] in (4, 8, 16)
    assert to.read_text().startswith("raters")
    assert (tmp_path / "plan.png").stat().st_size > 0
    text = run("reliability", "plan", study, "--goal", "2.5", "--label", "awe").stdout
    assert "raters per stimulus" in text
    wrong = run("reliability", "plan", study, "--goal", "2", "--n-raters", "a,b", code=2).stderr
    assert "--n-raters: 'a' is not understood" in wrong
    missing = run("reliability", "plan", study, code=2).stderr
    assert "--goal" in missing


def test_golden_items(study: Path, tmp_path: Path) -> None:
    chosen = tmp_path / "golden.csv"
    options = ("--n", "4", "--label", "awe", "--out", chosen)
    found = result("reliability", "golden", study, *options)["result"]["golden"]
    assert {row["extreme"] for row in found} == {"low", "high"}
    assert len(chosen.read_text().splitlines()) == 1 + 4
    taken = found[0]["stimulus"]
    others = result("reliability", "golden", study, *options, "--main", taken)["result"]["golden"]
    assert taken not in {row["stimulus"] for row in others}


def test_golden_items_are_what_screening_compares_with(study: Path, tmp_path: Path) -> None:
    chosen = tmp_path / "golden.csv"
    run("reliability", "golden", study, "--n", "2", "--label", "awe", "--out", chosen)
    by_file = result("reliability", "screen", study, "--golden", chosen)["result"]
    given = pl.read_csv(chosen).select("stimulus", "value").rows()
    pairs = [part for name, value in given for part in ("--golden", f"{name}={value}")]
    assert result("reliability", "screen", study, *pairs)["result"] == by_file


def test_duplicates_are_named(copied: Path) -> None:
    (pair,) = result("reliability", "screen", "--find", "duplicates", copied)["result"][
        "duplicates"
    ]
    assert (pair["rater"], pair["other"]) == ("bob", "fay")
    without = run("reliability", "screen", "--find", "duplicates", copied, "--quiet").stdout
    assert without.startswith("1 of 15 pairs of raters answer alike")


def test_screen_finds_the_planted(study: Path, tmp_path: Path) -> None:
    from affectlab.ratings import read_ratings
    from affectlab.simulate import demo_study

    careless = {
        profile.name
        for profile in demo_study(1, identities=2).simulation.profiles
        if profile.reversed or profile.straight_lining
    }
    kept, to = tmp_path / "kept.csv", tmp_path / "verdicts.csv"
    found = result("reliability", "screen", study, "--kept", kept, "--out", to)["result"]
    refused = {row["rater"] for row in found["verdicts"] if not row["use"]}
    assert careless <= refused
    assert not refused & set(read_ratings(kept).rater_names)
    assert "evidence" in to.read_text().splitlines()[0]
    unknown = run("reliability", "screen", study, "--policy", "bt501", code=2).stderr
    assert "'bt500'" in unknown


def test_screen_has_the_policy_of_the_library(study: Path) -> None:
    """Without a policy, verb and function judge alike, rater by rater and rule by rule."""
    from affectlab.ratings import read_ratings
    from affectlab.reliability import screen

    by_verb = result("reliability", "screen", study, "--all")["result"]
    by_function = screen(read_ratings(study)).to_frame()
    columns = ("rater", "pay", "use", "rules")
    assert [tuple(row[name] for name in columns) for row in by_verb["verdicts"]] == [
        tuple(row) for row in by_function.select(columns).rows()
    ]


def test_agreement_uses_all_ratings_or_says_what_it_dropped(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    file = tmp_path / "gaps.csv"
    rows = [
        f"s{stimulus},r{rater},{int(np.clip(round(4 + felt + rng.normal()), 0, 7))}"
        for stimulus, felt in enumerate(rng.normal(0, 1.5, 40))
        for rater in (range(5) if stimulus < 6 else rng.permutation(5)[:3])
    ]
    file.write_text("\n".join(["stimulus,rater,value", *rows]))
    options = ("reliability", "agreement", file, "--scale", "0-7", "--n-boot", "20", "--more")
    found = result(*options)["result"]["intraclass_correlation"]
    assert {(row["n_items"], row["n_ratings"]) for row in found} == {(40, 132)}
    assert {row["target"] for row in found} == {"both"}
    assert all("jackknife over stimuli and raters" in row["method"] for row in found)
    listwise = result(*options, "--config", "missing=listwise")
    assert {row["n_items"] for row in listwise["result"]["intraclass_correlation"]} == {6}
    said = "34 of 40 stimuli lack a rater and are left out"
    assert any(said in note for note in listwise["result"]["notes"])
    done = run(*options, "--config", "missing=listwise")
    assert said in " ".join(done.stdout.split())
    assert "only --more shows" in run(*options[:-1], "--config", "missing=listwise", code=2).stderr


def test_agreement_in_full(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    options = ("--n-boot", "20", "--more", "--figures", folder)
    found = result("reliability", "agreement", study, *options)["result"]
    names = {"percent_agreement", "fleiss_kappa", "gwet_ac", "intraclass_correlation"}
    assert names | {"self_consistency"} <= set(found)
    assert {path.name for path in folder.iterdir()} == {
        f"{name}.{suffix}"
        for name in ("krippendorff_alpha", "kappa_by_kind", "kappa_heatmap")
        for suffix in ("png", "svg")
    }


def test_consensus_figure(tmp_path: Path) -> None:
    from affectlab.simulate import simulate_verification

    file = simulate_verification(200, seed=3).write(tmp_path / "votes.csv")
    found = result("emonet-face", "consensus", file, "--figures", tmp_path / "figures")["result"]
    assert [batch["batch"] for batch in found["batches"]] == [1, 2, 3, 4]
    assert (tmp_path / "figures" / "consensus_flow.png").stat().st_size > 0
