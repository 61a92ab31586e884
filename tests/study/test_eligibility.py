"""Who may take part: rules held against what is told, and the platforms' filters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.cli.command import run_here

from affectlab import InputError
from affectlab.study.design import Design
from affectlab.study.design.study_file import Eligibility
from affectlab.study.recruit import check_eligibility, passes, platform_filters, with_choices

ALL = Eligibility(
    approval_rate=0.98,
    approved=50,
    countries=("US", "GB"),
    languages=("en",),
    degree_verified=True,
)
GOOD = {
    "approval_rate": "0.99",
    "approved": "50",
    "countries": "GB",
    "languages": "de, en",
    "degree_verified": "true",
}


def design(platform: str = "none", **rules: Any) -> Design:
    return Design.model_validate(
        {
            "study": {"name": "x", "title": "X"},
            "protocol": {"name": "intensity"},
            "stimuli": {"faces": 4},
            "recruitment": {"platform": platform},
            "eligibility": rules,
        }
    )


def test_everything_that_is_told_is_checked() -> None:
    found = check_eligibility(ALL, GOOD)
    assert [(one.rule, one.by, one.passed) for one in found] == [
        (rule, "address", True) for rule in GOOD
    ]
    assert passes(found)
    json.dumps([one.as_dict() for one in found])


@pytest.mark.parametrize(
    ("rule", "told", "passed"),
    [
        ("approval_rate", "0.98", True),
        ("approval_rate", "98", True),
        ("approval_rate", "98 %", True),
        ("approval_rate", "97.9", False),
        ("approval_rate", "1", True),
        ("approval_rate", "1%", False),
        ("approval_rate", "101", False),
        ("approval_rate", "-5", False),
        ("approval_rate", "nan", False),
        ("approval_rate", "high", False),
        ("approval_rate", "", False),
        ("approved", "49", False),
        ("approved", "inf", False),
        ("countries", "us", True),
        ("countries", "UK", True),
        ("countries", "DE", False),
        ("countries", "", False),
        ("languages", "EN", True),
        ("languages", "de,fr", False),
        ("degree_verified", "yes", True),
        ("degree_verified", "no", False),
        ("degree_verified", "", False),
    ],
)
def test_what_passes(rule: str, told: str, passed: bool) -> None:
    found = {one.rule: one for one in check_eligibility(ALL, GOOD | {rule: told})}
    assert found[rule].passed is passed
    assert passes(tuple(found.values())) is passed


def test_silence_is_the_filters_word() -> None:
    for platform, by in (("prolific", "filter"), ("none", "nobody")):
        found = check_eligibility(ALL, {}, platform=platform)
        assert {(one.by, one.passed, one.told) for one in found} == {(by, None, None)}
        assert passes(found)


def test_rules_that_are_not_set_check_nothing() -> None:
    assert check_eligibility(Eligibility(), GOOD) == ()
    assert check_eligibility(Eligibility(approval_rate=0, approved=0), {"approved": "0"})[1].passed


@given(
    wanted=st.integers(0, 100),
    told=st.floats(0, 100, allow_nan=False),
)
def test_a_rate_passes_as_the_same_number_does(wanted: int, told: float) -> None:
    """In per cent above 1 and as a share below, a rate is one number."""
    rules = Eligibility(approval_rate=wanted / 100)
    share = told / 100 if told > 1 else told
    (one,) = check_eligibility(rules, {"approval_rate": repr(told)})
    assert one.passed is (share >= wanted / 100)


@given(told=st.dictionaries(st.sampled_from(sorted(GOOD)), st.text(max_size=30)))
def test_nothing_told_breaks_it(told: dict[str, str]) -> None:
    found = check_eligibility(ALL, told, platform="connect")
    assert [one.rule for one in found] == list(GOOD)
    json.dumps([one.as_dict() for one in found], allow_nan=False)


def test_published_rules_on_every_platform() -> None:
    """More than 50 approved at 98 per cent or more, US or UK; and 10,000 at more than 90."""
    found = platform_filters(design(approval_rate=0.98, approved=50, countries=["US", "UK"]))
    by = {(one.platform, one.rule): one for one in found}
    assert by["prolific", "approval_rate"].request == {
        "filter_id": "approval_rate",
        "selected_range": {"lower": 98, "upper": 100},
    }
    assert by["mturk", "approval_rate"].request == {
        "QualificationTypeId": "000000000000000000L0",
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [98],
    }
    assert by["mturk", "countries"].request == {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "In",
        "LocaleValues": [{"Country": "US"}, {"Country": "GB"}],
    }
    assert by["connect", "countries"].terms == "Country: United States, United Kingdom"
    many = platform_filters(design(approved=10_001), "prolific")
    assert many[0].request == {
        "filter_id": "approval_numbers",
        "selected_range": {"lower": 10_001, "upper": 10_001},
    }


def test_shares_are_rounded_up() -> None:
    """Nobody below the rule comes in through a filter of whole per cent."""
    for share, percent in ((0.985, 99), (0.29, 29), (0.57, 57), (1.0, 100)):
        (one,) = platform_filters(design("prolific", approval_rate=share))
        assert one.request is not None
        assert one.request["selected_range"]["lower"] == percent


def test_the_studys_own_platform_comes_alone() -> None:
    found = platform_filters(design("connect", approved=5, degree_verified=True))
    assert [(one.platform, one.request) for one in found] == [("connect", None)] * 2
    assert platform_filters(design()) == ()
    with pytest.raises(InputError, match="prolifc"):
        platform_filters(design(), "prolifc")


def test_a_country_without_a_name_is_left_to_the_page() -> None:
    (one,) = platform_filters(design("prolific", countries=["US", "AQ"]))
    assert (one.request, one.terms) == (None, "Current country of residence: United States, AQ")


def test_a_filter_that_is_gone() -> None:
    found = platform_filters(design("prolific", approved=5))
    with pytest.raises(InputError, match="no filter 'approval_numbers' now"):
        with_choices(found, [{"filter_id": "age"}])


@pytest.mark.parametrize(
    "rules", [{"countries": ["USA"]}, {"languages": ["e1"]}, {"approval_rate": 98}]
)
def test_rules_that_are_no_rules(rules: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        design(**rules)


def test_check_says_for_whom_mturk_still_is(tmp_path: Path) -> None:
    """MTurk takes no new customers; those it has go on."""
    study = tmp_path / "study.toml"
    text = (
        '[study]\nname = "faces"\ntitle = "Faces"\n[protocol]\nname = "intensity"\n'
        "[stimuli]\nfaces = 4\n[eligibility]\napproved = 50\n"
    )
    study.write_text(text, encoding="utf-8")
    shown = " ".join(run_here("study", "check", str(study)).stdout.split())
    assert "50 or more approved HITs" in shown
    assert "MTurk takes no new customers since 30 July 2026" in shown
    study.write_text(f'{text}[recruitment]\nplatform = "prolific"\n', encoding="utf-8")
    assert "MTurk" not in run_here("study", "check", str(study)).stdout
