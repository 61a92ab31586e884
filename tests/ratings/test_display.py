"""What a table says of itself: summary, warnings, text, HTML and rich."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from tests.ratings.told import facts

from affectlab.ratings import GuessedScalesWarning, Ratings, StepKind


def shown(r: Ratings) -> str:
    file = StringIO()
    Console(width=100, file=file).print(r)
    return file.getvalue()


def panel(n_raters: int, n_stimuli: int = 3, **options: Any) -> Ratings:
    cells = [(s, r) for s in range(n_stimuli) for r in range(n_raters)]
    return Ratings(
        {
            "stimulus": [f"s{s}" for s, _ in cells],
            "rater": [f"r{r}" for _, r in cells],
            "value": [(s * 3 + r) % 8 for s, r in cells],
        },
        **{"scale": "0-7", **options},
    )


def test_summary_counts_main_trials_with_an_answer() -> None:
    r = Ratings(
        {
            "stimulus": ["a", "a", "b", "g", "g"],
            "rater": ["x", "y", "x", "x", "y"],
            "value": [1, 2, None, 4, 5],
            "trial_kind": ["main"] * 3 + ["golden"] * 2,
            "outcome": ["ok", "ok", "refused", "ok", "ok"],
        },
        scale="0-7",
        source="x.csv",
    )
    summary = r.summary()
    assert (summary.n_ratings, summary.n_stimuli, summary.n_raters, summary.n_labels) == (
        4,
        3,
        2,
        1,
    )
    assert summary.raters_per_stimulus == (2, 2.0, 2)
    assert summary.stimuli_per_rater == (1, 1.0, 1)
    assert summary.trial_kinds == {"main": 3, "golden": 2}
    assert summary.outcomes == {"ok": 4, "refused": 1}
    assert summary.rater_kinds == {"human": 2}
    assert "1 of 5 answers cannot be used (1 refused); statistics leave them out." in (
        summary.notes
    )


def test_pairs_are_counted_once_however_many_labels() -> None:
    r = Ratings(
        {
            "stimulus": ["a", "a", "a", "b"],
            "rater": ["x", "x", "y", "x"],
            "label": ["p", "q", "p", "p"],
            "value": [1, 2, 3, 4],
        }
    )
    assert r.summary().raters_per_stimulus == (1, 1.5, 2)
    assert r.summary().stimuli_per_rater == (1, 1.5, 2)


def test_a_large_complete_panel_has_no_warnings() -> None:
    assert panel(10).warnings == ()


@pytest.mark.parametrize(
    ("r", "text"),
    [
        (panel(1), "There is one human rater: agreement between people is not defined."),
        (panel(10, 1), "There is one stimulus: most measures of agreement are not defined."),
        (
            panel(2, raters={"rater": ["r0", "r1"], "rater_kind": ["model", "baseline"]}),
            "No rater is human: agreement here is agreement among models.",
        ),
        (
            panel(10, raters={"rater": ["r3"], "rater_kind": ["simulated"]}),
            "1 of 10 raters is simulated.",
        ),
        (
            panel(10, raters={"rater": ["r3", "r4"], "kind": ["Model", "human"]}),
            "The column 'kind' of the raters speaks of models, but kinds are read from "
            "'rater_kind' alone: all raters count as people unless it gets that name.",
        ),
        (
            panel(10, scale=None),
            "The scale was inferred from the answers as ordinal 0 to 7, step 1; weighted agreement "
            "depends on it, so declare it, for example with scale='0-7'.",
        ),
        (
            Ratings({"stimulus": ["a", "b"], "rater": ["x", "y"], "value": [3, 3]}, scale="0-7"),
            "All answers are 3: agreement beyond chance is not defined.",
        ),
        (
            Ratings({"stimulus": ["a", "b"], "rater": ["x", "y"], "value": [3, 4]}, scale="0-7"),
            "Every stimulus has one human rater: agreement between people is not defined.",
        ),
        (
            Ratings({"stimulus": ["a", "b", "a"], "rater": ["x", "y", "y"], "value": [3, 4, 5]}),
            "1 of 2 stimuli has one human rater: agreement between people rests on the others.",
        ),
        (
            Ratings(
                {"stimulus": ["a", "a"], "rater": ["x", "y"], "label": ["p"] * 2, "value": [1] * 2}
            ),
            "All answers are yes: agreement beyond chance is not defined; if a label left out",
        ),
        (
            Ratings({"stimulus": ["a", "a"], "rater": ["Ann", "ann "], "value": [3, 4]}),
            "The raters 'Ann' and 'ann ' differ in case or spaces only: are they one?",
        ),
        (
            Ratings({"stimulus": ["a", "b"], "rater": ["x", "y"], "value": ["Joy", "joy"]}),
            "Categories that differ only in case or spaces were joined: 'joy' is 'Joy'.",
        ),
        (
            Ratings(
                {"stimulus": ["a", "b"], "rater": ["x", "y"], "value": [3, 9]},
                scale="0-7",
                on_bad="set_aside",
            ),
            "1 row of the source was set aside; the summary says why.",
        ),
    ],
)
def test_warnings_say(r: Ratings, text: str) -> None:
    assert any(warning.startswith(text) for warning in r.warnings), r.warnings


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([0, 1, 7, -1], "-1"),
        ([1, 2, 5, -99], "-99"),
        ([1, 2, 3, 4, 5, 9], "9"),
        ([1, 2, 5, 99], "99"),
        ([1, 2, 7, 999], "999"),
        ([-3, 0, 3, -99], "-99"),
        ([1, 4, 7, -77], "-77"),
        ([0, 4, 10, 777], "777"),
        ([-100, 3, 96, 9999], "9999"),
        ([*range(101), -1], "-1"),
        ([*range(101), 999], "999"),
        ([0.5, 33.25, 97, -999], "-999"),
    ],
)
def test_numbers_that_often_mean_missing(values: list[float], code: str) -> None:
    names = [f"s{k}" for k in range(len(values))]
    r = Ratings({"stimulus": names, "rater": ["x"] * len(names), "value": values})
    low, high = min(values[:-1]), max(values[:-1])
    assert any(
        f"1 answer is {code} and all others lie between {low:g} and {high:g}" in text
        and f"say so when reading (missing_codes=['{code}'])" in text
        for text in r.warnings
    )
    declared = Ratings(
        {"stimulus": names, "rater": ["x"] * len(names), "value": values}, scale="interval"
    )
    assert not any("missing answer" in text for text in declared.warnings)


@pytest.mark.parametrize(
    "values",
    [
        [-1, 0, 1],
        [-2, -1, 0, 1],
        [0, 1],
        [1, 5, 9, 7],
        list(range(0, 100, 9)),
        [-1, 0.5, 1],
        [-99, -40, 12, 88],
        [120, 640, 999],
        [1, 2, 3, 5, 7, 9],
        [9, 8, 7],
    ],
)
def test_numbers_that_are_plain_answers(values: list[float]) -> None:
    names = [f"s{k}" for k in range(len(values))]
    r = Ratings({"stimulus": names, "rater": ["x"] * len(names), "value": values})
    assert not any("missing answer" in text for text in r.warnings)


def test_gaps_are_no_warning() -> None:
    r = Ratings({"stimulus": ["a", "b"], "rater": ["x", "y"], "value": [3, None]}, scale="0-7")
    assert not any("set aside" in text for text in r.warnings)
    assert "1 row: no answer (row 2)" in shown(r)


def test_text_html_and_rich_show_the_same_and_escape_names() -> None:
    evil = "<script>alert(1)</script>"
    r = Ratings(
        {"stimulus": ["a", "a"], "rater": [evil, "[red]b[/red]"], "label": [evil, "[bold]x"],
         "value": [1, 2]},
        scale="0-7",
    )  # fmt: skip
    assert repr(r) == "Ratings(2 answers, 1 stimulus, 2 raters, 2 labels, ordinal 0 to 7, step 1)"
    html = r._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "[bold]x" in shown(r)


@pytest.mark.parametrize(
    ("names", "way"),
    [
        (("\u00c4rger", "A\u0308rger"), "how accents are encoded"),
        (("Ann", "ann "), "case or spaces"),
        (("001", "1"), "how a number is written"),
        (("1.0", "1"), "how a number is written"),
        (("1.10", "1.1"), ""),
        (("p01", "p1"), ""),
    ],
)
def test_names_that_may_be_one(names: tuple[str, str], way: str) -> None:
    r = Ratings({"stimulus": ["a", "b"], "rater": names, "value": [1, 2]})
    said = [text for text in r.warnings if text.endswith("are they one?")]
    one, two = r.rater_names
    assert said == (
        [f"The raters {one!r} and {two!r} differ in {way} only: are they one?"] * bool(way)
    )


def test_categories_whose_accents_differ_are_one() -> None:
    words = ["\u00c4rger", "A\u0308rger", "Wut"]
    r = Ratings({"stimulus": ["a", "b", "c"], "rater": ["x"] * 3, "value": words})
    assert r.scale.categories == (words[0], "Wut")
    assert facts(r, StepKind.ONE_SPELLING)["differences"] == ("how accents are encoded",)


def test_a_label_with_one_answer_is_on_no_scale() -> None:
    answers = {"a": [1, 2, 3], "b": [1, 2, 3, 4, 5], "Session": [1, 1]}
    rows = [(f"s{k}", "x", name, v) for name, own in answers.items() for k, v in enumerate(own)]
    columns = zip(*rows, strict=True)
    r = Ratings(dict(zip(("stimulus", "rater", "label", "value"), columns, strict=True)))
    said = next(text for text in r.warnings if "end differently" in text)
    assert "(scale='a=1-3, b=1-5')" in said


def test_codes_are_looked_for_on_each_scale() -> None:
    values = {"joy": [1, 2, 3, 4, 5, 2], "pain": [0, 35, 60, 100, 48, 999]}
    rows = [(f"s{k}", "x", name, v) for name, vs in values.items() for k, v in enumerate(vs)]
    columns = zip(*rows, strict=True)
    with pytest.warns(GuessedScalesWarning):
        r = Ratings(dict(zip(("stimulus", "rater", "label", "value"), columns, strict=True)))
    assert any(
        text.startswith("1 answer to 'pain' is 999 and all others lie between 0 and 100")
        for text in r.warnings
    )


def test_control_codes_of_names_reach_no_screen() -> None:
    names = {"stimulus": ["a", "b"], "rater": ["x", "x\u202e"], "label": ["joy\x1b[2J", "fear"]}
    r = Ratings({**names, "value": [1, 2]}, scale="0-7")
    assert "\x1b" not in shown(r) + r._repr_html_().split("</table>")[0]
    assert "\u202e" not in shown(r)
    words = Ratings({**names, "value": ["no\x1b[2J", "yes"]})
    assert "\x1b" not in repr(words) + shown(words)


@pytest.mark.parametrize(
    ("values", "example"),
    [
        ([1, 5, 3], "scale='1-5'"),
        ([-3, 3, 0], "scale='-3..3'"),
        ([0, 60, 45], "scale='0-60 interval'"),
        ([0.0213, 0.9871, 0.5], "scale='0-1 interval'"),
        ([3.2, 97.5, 50], "scale='0-100 interval'"),
        ([0, 1, 1], "scale='binary'"),
        ([3, 3, 3], "scale='0-7'"),
    ],
)
def test_the_suggested_scale_fits_the_answers(values: list[float], example: str) -> None:
    columns = {"stimulus": ["a", "b", "c"], "rater": ["x"] * 3, "value": values}
    (said,) = [text for text in Ratings(columns).warnings if "declare it" in text]
    assert example in said
    declared = Ratings(columns, scale=example.removeprefix("scale='").removesuffix("'"))
    assert declared.scale.contains(values).all()


def test_an_aggregate_is_no_person() -> None:
    one = panel(1, raters={"rater": ["r0"], "aggregated": [True]})
    assert one.warnings == (
        "The answers are already aggregated (rater 'r0'): agreement between people "
        "cannot be computed.",
    )
    mixed = panel(9, raters={"rater": ["r0", "r1"], "aggregated": ["true", "false"]})
    assert any("rater 'r0' are aggregated from those of several" in w for w in mixed.warnings)
    few = panel(2, raters={"rater": ["r0"], "aggregated": [True]})
    assert "There is one human rater: agreement between people is not defined." in few.warnings
    assert panel(10, raters={"rater": ["r0"], "aggregated": [False]}).warnings == ()


def test_long_names_are_cut() -> None:
    long = "very long name " * 200
    r = Ratings(
        {"stimulus": [long], "rater": [long], "label": [long], "value": [1]},
        scale="nominal:0," + long.strip(),
    )
    assert len(repr(r)) < 300
    assert all(len(line) <= 120 for line in shown(r).splitlines())
    assert len(r._repr_html_()) < 6000


def test_singular_and_plural() -> None:
    one = Ratings({"stimulus": ["a"], "rater": ["x"], "value": [1]}, scale="0-7")
    assert repr(one) == "Ratings(1 answer, 1 stimulus, 1 rater, ordinal 0 to 7, step 1)"
