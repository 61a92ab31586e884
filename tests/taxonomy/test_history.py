"""The history of a taxonomy, in its file."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.taxonomy import Taxonomy
from affectlab.taxonomy.history import LabelChange, TaxonomyRevision

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
EVIDENCE = st.dictionaries(
    TEXT,
    st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), TEXT),
    max_size=3,
)
CHANGES = st.builds(
    LabelChange,
    st.sampled_from(["keep", "rename", "add", "merge", "drop"]),
    TEXT,
    TEXT,
    TEXT,
    EVIDENCE,
)
REVISIONS = st.builds(
    TaxonomyRevision, TEXT, TEXT, TEXT, TEXT, st.lists(CHANGES, max_size=3).map(tuple)
)


@given(st.lists(REVISIONS, max_size=3).map(tuple))
def test_a_history_comes_back_from_the_file(history: tuple[TaxonomyRevision, ...]) -> None:
    made = Taxonomy("mine", Taxonomy.from_labels(["up"]).entries, history=history)
    back = Taxonomy.from_toml(made.to_toml())
    assert back == made
    for one, other in zip(back.history, history, strict=True):
        for change, wanted in zip(one.changes, other.changes, strict=True):
            assert [type(value) for value in change.evidence.values()] == [
                type(value) for value in wanted.evidence.values()
            ]
    assert hash(back) == hash(made)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('action = "forget", label = "x"', "action = 'forget'"),
        ('action = "drop"', "key 'history.0.changes.0.label' is missing"),
        ('action = "drop", label = "x", evidence = { n = nan }', "finite"),
        ('action = "drop", label = "x", why = "y"', "why' is not known here"),
    ],
)
def test_histories_that_cannot_be_read(line: str, said: str) -> None:
    text = 'name = "m"\nlabels = [{ name = "up" }]\n[[history]]\nversion = "1"\n'
    text += f"changes = [{{ {line} }}]"
    with pytest.raises(InputError) as raised:
        Taxonomy.from_toml(text, where="m.toml")
    assert str(raised.value).startswith("m.toml: ")
    assert said in str(raised.value)


def test_changes_are_checked() -> None:
    with pytest.raises(InputError, match="action 'forget' is not known"):
        LabelChange("forget", "x")
    with pytest.raises(InputError, match="evidence n = inf"):
        LabelChange("drop", "x", evidence={"n": float("inf")})
