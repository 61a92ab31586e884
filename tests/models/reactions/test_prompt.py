"""The prompt of the paper word for word, and examples that give nothing away."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.reactions import Decoding, FewShot
from affectlab.models.reactions.items import PersonReaction, ReactionItem
from affectlab.models.reactions.prompt import reaction_prompt


def test_the_prompt_is_that_of_the_paper() -> None:
    item = ReactionItem(
        "navalny",
        "Alexei Navalny has complained about a crackdown on opposition members in Kostroma",
        "Fear",
    )
    assert reaction_prompt(item) == (
        "Question: Why does a person feel Fear after seeing this image and reading the news "
        "caption 'Alexei Navalny has complained about a crackdown on opposition members in "
        "Kostroma'? Answer:"
    )


def test_nothing_in_a_caption_is_a_place() -> None:
    item = ReactionItem("a", "It's {emotion}, {0} and {{caption}} 100%", "so {sad}")
    assert reaction_prompt(item) == (
        "Question: Why does a person feel so {sad} after seeing this image and reading the news "
        "caption 'It's {emotion}, {0} and {{caption}} 100%'? Answer:"
    )


def test_examples_stand_before_with_their_answers() -> None:
    said = PersonReaction("b", "Cup won", "happy", " Their team\nhas won. ")
    assert reaction_prompt(ReactionItem("a", "Storm", "awe"), [said]) == (
        "Question: Why does a person feel happy after seeing this image and reading the news "
        "caption 'Cup won'? Answer: Their team has won.\n\n"
        "Question: Why does a person feel awe after seeing this image and reading the news "
        "caption 'Storm'? Answer:"
    )


PAIRS = st.integers(0, 7)
SAID = st.lists(
    st.builds(
        lambda pair, alias, emotion, word: PersonReaction(
            f"p{pair}" if not alias else f"alias of {pair}",
            f"Caption  {pair}" if alias else f"caption {pair}",
            emotion,
            f"Because of {word}.",
        ),
        PAIRS,
        st.booleans(),
        st.sampled_from(["sad", "happy"]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=25,
)


@given(said=SAID, pair=PAIRS, shots=st.integers(1, 4), seed=st.integers(0, 50))
@settings(max_examples=200, deadline=None)
def test_no_example_is_about_the_pair_itself(
    said: list[PersonReaction], pair: int, shots: int, seed: int
) -> None:
    item = ReactionItem(f"p{pair}", f"Caption {pair}", "sad")
    few = FewShot(said, shots=shots, seed=seed)
    other = {one.caption.split()[1] for one in said} - {str(pair)}
    if len(other) < shots:
        # Under two names with one caption a pair is still one pair.
        with pytest.raises(InputError, match="there are reactions to"):
            few.draw(item)
        return
    drawn = few.draw(item)
    about = [one.caption.split()[1] for one in drawn]
    assert str(pair) not in about
    assert len(set(about)) == shots
    assert FewShot(said[::-1], shots=shots, seed=seed).draw(item) == drawn


def test_draws_depend_on_seed_and_item() -> None:
    said = [PersonReaction(f"b{k}", f"Caption {k}", "sad", "Because.") for k in range(40)]
    item, other = ReactionItem("a", "Storm", "awe"), ReactionItem("a", "Storm", "sad")
    few = FewShot(said, shots=3)
    assert few.draw(item) == few.draw(item)
    assert few.draw(item) != few.draw(other)
    assert few.draw(item) != FewShot(said, shots=3, seed=1).draw(item)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"temperature": -1.0}, "temperature -1"),
        ({"temperature": float("nan")}, "temperature nan"),
        ({"top_p": 0.0}, "top_p 0"),
        ({"n": 0}, "n 0"),
        ({"n": 2}, "n 2 with temperature 0"),
        ({"top_p": 0.5}, "top_p 0.5 with temperature 0"),
        ({"max_new_tokens": 0}, "max_new_tokens 0"),
    ],
)
def test_bad_settings(settings: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Decoding(**settings)  # type: ignore[arg-type]


def test_bad_examples() -> None:
    with pytest.raises(InputError, match="no example is given"):
        FewShot([])
    with pytest.raises(InputError, match="shots 0"):
        FewShot([PersonReaction("a", "b", "c", "d")], shots=0)
    with pytest.raises(InputError, match="example about 'a': the text is empty"):
        FewShot([PersonReaction("a", "b", "c", " ")])
