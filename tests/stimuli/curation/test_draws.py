"""Draws: the documented hash, exactly n kept, ties, and draws that know nothing of each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.stimuli.curation.pools import Comment, plain_draw, pool_of

from affectlab.stimuli.curation.hashing import draws, id_keys
from affectlab.stimuli.curation.pool import draws as _draws
from affectlab.stimuli.curation.pool.draws import cutoffs, lower_median, polars_draw


def test_published_values_of_fnv() -> None:
    told = id_keys(pl.Series(["", "a", "foobar"])).view(np.uint64).tolist()
    assert told == [0xCBF29CE484222325, 0xAF63DC4C8601EC8C, 0x85944171F73967E8]


@pytest.mark.parametrize("ids", [["a", "", "naïve 🙂", "c" * 500], ["t1_x"], []])
def test_hash_of_any_text(ids: list[str]) -> None:
    keys = id_keys(pl.Series(ids, dtype=pl.String))
    found = draws(keys, "sample", 7).tolist()
    assert found == [plain_draw("sample", 7, of=one) for one in ids]
    assert all(0 <= draw < 2**63 for draw in found)


def test_slice_and_chunks_hash_alike() -> None:
    ids = pl.Series([f"c{k}" for k in range(9)])
    whole = id_keys(ids).tolist()
    assert id_keys(ids[3:]).tolist() == whole[3:]
    assert id_keys(pl.concat([ids[:4], ids[4:]], rechunk=False)).tolist() == whole


def test_draws_are_uniform_and_independent() -> None:
    keys = id_keys(pl.Series([f"t1_{k:x}" for k in range(40_000)]))
    told = [draws(keys, name, seed) / 2**63 for name, seed in [("a", 0), ("b", 0), ("a", 1)]]
    for one in told:
        counts = np.histogram(one, bins=20, range=(0, 1))[0]
        assert ((counts - 2000) ** 2 / 2000).sum() < 50  # chi-squared, 19 degrees of freedom
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        assert abs(np.corrcoef(told[one], told[other])[0, 1]) < 0.02
        low = told[one] < 0.1
        assert abs(told[other][low].mean() - 0.5) < 0.02


@pytest.mark.parametrize("cells", [4, 16])
@pytest.mark.parametrize("parts", [1, 3])
def test_exactly_n_of_each_kind(
    cells: int, parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_draws, "_CELLS", cells)
    comments = [Comment(f"c{k}", group="abbccccdddddddd"[k % 15]) for k in range(450)]
    pool = pool_of(comments, tmp_path, parts)
    caps = pool.counts("group").with_columns(cap=pl.Series([40, 30, 17, 1]))
    cuts = cutoffs(pool, "group", caps, "x", 3)
    assert sorted(cuts["group"]) == ["b", "c", "d"]
    for group, cut, _ in cuts.iter_rows():
        drawn = sorted(plain_draw("x", 3, one.id) for one in comments if one.group == group)
        assert drawn.index(cut) + 1 == dict(caps.select("group", "cap").iter_rows())[group]


def test_no_kind_above_its_cap_gives_no_cut(tmp_path: Path) -> None:
    pool = pool_of([Comment("a"), Comment("b")], tmp_path)
    caps = pl.DataFrame({"n": [2], "cap": [2]})
    assert cutoffs(pool, None, caps, "x", 0).shape == (0, 2)


def test_of_equal_draws_the_first_read_is_kept(tmp_path: Path) -> None:
    """Rows with one id have one draw: only their place tells them apart."""
    comments = [Comment("same") for _ in range(7)]
    pool = pool_of(comments, tmp_path, 3)
    cuts = cutoffs(pool, None, pl.DataFrame({"n": [7], "cap": [4]}), "x", 0)
    table = pl.read_parquet(sorted(pool.folder.glob("*.parquet")))
    cut, place = cuts.row(0)
    draw = table.select(polars_draw("x", 0)).to_series()
    assert (draw == cut).all()
    assert (table["place"] <= place).sum() == 4
    assert (table["place"] <= place)[:4].all()


def test_lower_median() -> None:
    assert [lower_median(pl.Series(one)) for one in ([5], [1, 9], [9, 3, 1], [4, 1, 3, 9])] == [
        5,
        1,
        3,
        3,
    ]
