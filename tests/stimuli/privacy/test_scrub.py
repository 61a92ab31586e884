"""Personal data in texts: what Faker makes up is found, plain sentences stay."""

from __future__ import annotations

import time

import numpy as np
import pytest
from faker import Faker
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.stimuli.privacy import scrub_ratings, scrub_texts
from affectlab.stimuli.privacy.scrub import KINDS


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
        ("en_US", "phone_number", "phone"),
        ("en_GB", "phone_number", "phone"),
        ("en_US", "credit_card_number", "card"),
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
        ("10 Downing Street was lit", "[ADDRESS] was lit"),
        ("Flat 2, 31 Emily Mews, Leeside, SW1A 1AA, they said", "[ADDRESS], they said"),
        ("29 Emily Isle Apt. 185, North Lindsay, VT 26519", "[ADDRESS]"),
        ("Unit 9404 Box 0448, DPO AA 12345", "[ADDRESS]"),
        ("from +44(0)115 4960460 or 0115 4960823", "from [PHONE] or [PHONE]"),
        ("ring 212 5550142 or 6775772446", "ring [PHONE] or [PHONE]"),
        ("host 10.20.30.40 or fe80::1:2:3", "host [IP] or [IP]"),
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
        "version 1.2.3.4 is out :: see, 10::",
        "In 2012 Hurricane Sandy Point; World War 2 Memorial Park; Top 10 Dream Islands",
        "ISBN 978-0-306-40615-7, 1999-2004, 01-02-2018 10 people, 100 200 3000 people",
        "a 24 Hour drive for 12 Angry Men and 2000000000 dollars at 10:30:45",
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
    parts = ["(0) ", "01 ", "1 Aa ", "Flat 1 ", "1 Aa Aa Aa Aa ", "+1 ", "A'", "212-", "ab@cd."]
    parts += ["a.", "1 ", "1-", "A1 ", "[at]", "@a", ":", "1:", "1 A", "a@", "x.y"]
    start = time.process_time()
    scrub_texts([part * (20_000 // len(part)) for part in parts], names="none")
    assert time.process_time() - start < 6


def test_texts_full_of_numbers_take_little_time() -> None:
    words = "lost 12 homes 2019 3,000 10:30 555 1.5 million 50/50 Main Street 12345 1234567890"
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words.split(), 18)) for _ in range(3000)]
    start = time.process_time()
    scrub_texts(texts)
    # 18,000 in five seconds, with room for slow computers.
    assert time.process_time() - start < 3


def test_nothing_is_left_where_two_kinds_overlap() -> None:
    def names(texts: list[str]) -> list[list[tuple[int, int]]]:
        return [[(text.index("Emily"), text.index(","))] for text in texts]

    found = scrub_texts(["at 29 Emily Street Somebody Longer, ok"], names=names)
    assert found.texts == ("at [NAME], ok",)
    assert found.places.height == 1


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
    assert str(new.history[-1]) == "text: masked e-mail in 1 text"
    assert found["text"].counts["n_found"].sum() == 1
    for wrong in ("label", "rater", "absent"):
        with pytest.raises(InputError, match="no column"):
            scrub_ratings(old, columns=[wrong])
