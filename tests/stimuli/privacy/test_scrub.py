"""Personal data in texts: what Faker makes up is found, plain sentences stay."""

from __future__ import annotations

import time

import pytest
from faker import Faker
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.errors import InputError
from affectlab.ratings import Ratings
from affectlab.stimuli.privacy import KINDS, scrub_ratings, scrub_texts


@pytest.fixture(scope="module")
def fake() -> Faker:
    made = Faker(["en_US", "en_GB"])
    made.seed_instance(5)
    return made


@pytest.mark.parametrize(
    ("locale", "method", "kind"),
    [
        ("en_US", "email", "e-mail"),
        ("en_GB", "url", "link"),
        ("en_GB", "iban", "bank account"),
        ("en_US", "ssn", "national number"),
        ("en_US", "ipv4", "internet address"),
        ("en_US", "ipv6", "internet address"),
        ("en_GB", "postcode", "address"),
    ],
)
def test_made_up_data_is_found(fake: Faker, locale: str, method: str, kind: str) -> None:
    made = [str(getattr(fake[locale], method)()) for _ in range(40)]
    found = scrub_texts([f"they wrote {one} and i felt sad" for one in made])
    assert all(one not in text for one, text in zip(made, found.texts, strict=True))
    assert all(text.endswith(" and i felt sad") for text in found.texts)
    assert set(found.places["kind"]) == {kind}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Call (212) 555-0142 x12 now", "Call [PHONE] now"),
        ("ring 020 7946 0018 today", "ring [PHONE] today"),
        ("pay 4111 1111 1111 1111, please", "pay [CARD], please"),
        ("at 221B Baker Street, London", "at [ADDRESS], London"),
        ("P.O. Box 123 is mine", "[ADDRESS] is mine"),
        ("ask @jane_doe or u/someone", "ask [USER] or [USER]"),
        ("born 12/03/1984 in Wales", "born [DATE] in Wales"),
        ("see example.org/a?b=1.", "see [LINK]."),
        ("jane (at) example (dot) com", "[EMAIL]"),
    ],
)
def test_known_answers(text: str, clean: str) -> None:
    assert scrub_texts([text]).texts == (clean,)


@pytest.mark.parametrize(
    "text",
    [
        "I feel sad because 3 people died in 2019 at 10:30 on the road.",
        "They won 3-2 and spent $1,200.50 e.g. on 12 August 2018.",
        "So good.I love it... 50/50, 24/7, 1.5 million, 4111 1111 1111 1112.",
        "U.S. troops leave; hope and grace will stay.",
        "",
    ],
)
def test_plain_sentences_stay(text: str) -> None:
    found = scrub_texts([text])
    assert found.texts == (text,)
    assert found.changed == (False,)
    assert found.counts["kind"].to_list() == list(KINDS)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=4))
def test_places_say_what_was_masked(texts: list[str]) -> None:
    found = scrub_texts(texts)
    for row, (text, clean) in enumerate(zip(texts, found.texts, strict=True)):
        own = found.places.filter(found.places["row"] == row)
        kept, at = [], 0
        for start, end in own.select("start", "end").rows():
            assert at <= start < end <= len(text)
            kept.append(text[at:start])
            at = end
        rest = clean
        for part in [*kept, text[at:]]:
            assert part in rest
            rest = rest[rest.index(part) + len(part) :]


def test_kinds_and_what_is_public() -> None:
    text = "Emily Clark wrote a@b.org"
    assert scrub_texts([text], kinds=["e-mail"]).texts == ("Emily Clark wrote [EMAIL]",)
    assert scrub_texts([text], keep=["emily  clark"]).texts == ("Emily Clark wrote [EMAIL]",)
    assert scrub_texts([None]).texts == ("",)
    with pytest.raises(InputError, match="kind of personal data"):
        scrub_texts([text], kinds=["shoe size"])
    with pytest.raises(InputError, match=r"texts\[1\] is 3"):
        scrub_texts(["a", 3])  # type: ignore[list-item]
    with pytest.raises(InputError, match="not one text"):
        scrub_texts(text)


def test_hostile_texts_take_no_time() -> None:
    parts = ["a.", "1 ", "1-", "A1 ", "[at]", "@a", ":", "1:", "1 A", "a@", "x.y"]
    start = time.perf_counter()
    scrub_texts([part * (4000 // len(part)) for part in parts], names="none")
    assert time.perf_counter() - start < 20


def test_ratings_keep_the_old_table() -> None:
    rows = {
        "stimulus": ["a", "a", "b"],
        "rater": ["r", "s", "r"],
        "text": ["Mail a@b.org", "No.", "Yes."],
        "emotion": ["sad", "joy", "awe"],
    }
    old = Ratings(rows, scale="text")
    new, found = scrub_ratings(old)
    assert old.frame["text"].to_list() == rows["text"]
    assert new.frame["text"].to_list() == ["Mail [EMAIL]", "No.", "Yes."]
    assert new.frame.drop("text").equals(old.frame.drop("text"))
    assert new.history[-1] == "text: masked e-mail in 1 text"
    assert found["text"].counts["n_found"].sum() == 1
    for wrong in ("label", "rater", "absent"):
        with pytest.raises(InputError, match="no column"):
            scrub_ratings(old, columns=[wrong])
