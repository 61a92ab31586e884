"""Files of policies that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from affectlab.core.errors import InputError
from affectlab.stimuli.taxonomy.policy import load_revision_policy


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[scarce]\nbelow = 2", "scarce.below = 2"),
        ('[scarce]\nbelow = 0.1\nbound = "low"', "scarce.bound = 'low'"),
        ("[scarce]\nless = 0.1", "key 'scarce.below' is missing"),
    ],
)
def test_policies_that_cannot_be_used(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "policy.toml"
    rest = "[agreement]\nbelow = 0\n[confused]\nabove = 0.9\n[suggested]\nabove = 0.1\n"
    path.write_text(f'name = "mine"\n{line}\n{rest}', "utf-8")
    with pytest.raises(InputError, match=r"policy\.toml") as raised:
        load_revision_policy(path)
    assert said in str(raised.value)
