"""Matrices of scores without names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.ratings.told import facts

from affectlab.core.errors import InputError
from affectlab.ratings import StepKind, read_ratings
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import find_format

SCORES = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, np.nan])


def write(path, rows, delimiter=","):
    lines = [delimiter.join("nan" if x != x else f"{x:g}" for x in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@given(st.integers(4, 7), st.integers(2, 6), st.data())
@settings(max_examples=40, deadline=None)
def test_round_trip(tmp_path_factory, n_raters, n_stimuli, data):
    rows = data.draw(
        st.lists(
            st.lists(SCORES, min_size=n_raters, max_size=n_raters),
            min_size=n_stimuli,
            max_size=n_stimuli,
        )
    )
    given = np.array(rows)
    given[np.isnan(given).all(axis=1), 0] = 3.0
    given[0, np.isnan(given).all(axis=0)] = 3.0
    file = write(tmp_path_factory.mktemp("m") / "scores.csv", given)
    r = read_ratings(file, format="vqeg", scale="1-5")
    assert np.array_equal(r.matrix().T, given, equal_nan=True)
    turned = read_ratings(file, format="vqeg", scale="1-5", wide="stimuli")
    assert np.array_equal(turned.matrix(), given, equal_nan=True)


def test_recognised_with_empty_cells_as_gaps(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("5.0,,4,3\n1,2,NaN,3\n")
    r = read_ratings(file)
    assert (r.n_stimuli, r.n_raters, r.n_ratings) == (2, 4, 6)
    assert r.stimulus_names == ("stimulus-01", "stimulus-02")
    assert r.rater_names[0] == "subject-01"
    assert [(part.count, part.reason) for part in r.set_aside] == [(2, "no answer")]


@pytest.mark.parametrize(
    "text",
    [
        "stimulus,rater,value,x\n1,2,3,4\n",
        "1,2,3,4\n5,5,4,4\n3,3,3,3\n",  # a header of numbers
        "0,5,4,4\n1,3,3,3\n2,5,5,5\n",  # an index
        "1,2,5\n1,3,4\n2,2,4\n",  # stimulus, rater, value
        "5,4,4,x\n4,4,4,4\n",
        "5,4,4,3\n",
        "5,4,4,3\n5,4,4\n",
        "1500,4,4,3\n5,4,4,1\n",
        "nan,nan,nan,nan\nnan,nan,nan,nan\n",
    ],
)
def test_not_taken_for_a_matrix(tmp_path, text):
    file = tmp_path / "x.csv"
    file.write_text(text)
    peek = Peek.open(file)
    assert find_format(peek).name == "table"


def test_bad_cells_and_rows(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("5,4,4,3\n5,good,4,3\n5,4,4\n")
    with pytest.raises(InputError) as error:
        read_ratings(file, format="vqeg")
    assert str(error.value) == (
        f"{file}, line 2 (column 2): 'good' is no score; expected a number, or nan for a gap"
    )
    r = read_ratings(file, format="vqeg", on_bad="set_aside")
    assert r.n_ratings == 7
    assert "not 4 scores" in {part.reason for part in r.set_aside}
    file.write_text("5,4,4,3\n5,4,4\n")
    with pytest.raises(InputError, match="line 2: 3 scores; expected 4 as in line 1"):
        read_ratings(file, format="vqeg")
    file.write_text("5,4,4,3\n5,4,4,9\n")
    with pytest.raises(InputError, match=r"line 2 \(column 4\): value 9 is off the scale"):
        read_ratings(file, scale="1-5", format="vqeg")


def test_other_delimiters(tmp_path):
    file = write(tmp_path / "x.txt", [[5, 4, 4, 3], [1, 2, 1, 1]], delimiter=" ")
    assert read_ratings(file, format="vqeg", delimiter=" ").n_ratings == 8
    file = write(tmp_path / "y.tsv", [[5, 4, 4, 3], [1, 2, 1, 1]], delimiter="\t")
    assert read_ratings(file).n_ratings == 8


@pytest.mark.parametrize(("name", "gaps"), [("sample_data", 1), ("small_sample_data", 2)])
def test_published_matrices(shared_data, name, gaps):
    file = shared_data / "subjective_quality" / "p910_demo" / f"{name}.csv"
    given = np.genfromtxt(file, delimiter=",")
    r = read_ratings(file)
    assert np.array_equal(r.matrix().T, given, equal_nan=True)
    assert [part.count for part in r.set_aside] == [gaps]
    assert np.isnan(given).sum() == gaps
    assert str(r.scale) == "ordinal 1 to 5, step 1 (inferred)"


LAYOUTS = {
    "plain": lambda text: text,
    "semicolons": lambda text: text.replace(",", ";"),
    "decimal commas": lambda text: text.replace(",", ";").replace(".", ","),
    "tabs": lambda text: text.replace(",", "\t"),
    "spaces": lambda text: text.replace(",", " "),
    "aligned": lambda text: "  " + text.replace(",", "   "),
    "quoted": lambda text: "\n".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) for line in text.split()
    ),
    "open ends": lambda text: text.replace("\n", ",\n"),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "gaps in words": lambda text: text.replace("nan", "N/A"),
    "gaps as dashes": lambda text: text.replace("nan", "-"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("wide", [None, "auto", "raters"])
def test_read_alike_however_it_is_written(tmp_path, layout, wide):
    file = tmp_path / "scores.txt"
    file.write_bytes(
        LAYOUTS[layout]("5.0,4.5,nan,3.0\n1.0,2.0,1.0,1.0\n2.0,2.0,3.0,4.0\n").encode()
    )
    r = read_ratings(file, wide=wide)
    assert r.matrix().T.tolist()[1:] == [[1, 2, 1, 1], [2, 2, 3, 4]]
    assert [str(part) for part in r.set_aside] == ["1 cell: no answer (line 1 (column 3))"]
    assert facts(r, StepKind.NO_NAMES)["rows"] == "stimuli"


def test_the_other_way_round_when_that_is_said(tmp_path):
    file = write(tmp_path / "scores.csv", [[5, 4, 4, 3, 2], [1, 2, np.nan, 1, 1]])
    r = read_ratings(file, wide="stimuli")
    assert (r.n_raters, r.n_stimuli) == (2, 5)
    assert r.equals(read_ratings(file, format="vqeg", wide="stimuli"))
    assert facts(r, StepKind.NO_NAMES)["rows"] == "subjects"
    with pytest.raises(InputError, match="wide cannot be given with format 'vqeg'"):
        read_ratings(file, wide="labels", format="vqeg")


def test_as_numpy_writes_it(tmp_path):
    given = np.array([[5, 4, 4, 3], [1, 2, np.nan, 1], [2, 2, 2, 4]])
    np.savetxt(tmp_path / "scores.txt", given)
    r = read_ratings(tmp_path / "scores.txt")
    assert np.array_equal(r.matrix().T, given, equal_nan=True)


def test_each_cell_is_counted_once(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("5,4,4,3\n1,x,,1\n")
    r = read_ratings(file, format="vqeg", on_bad="set_aside")
    assert r.n_rows + sum(part.count for part in r.set_aside) == 8
    assert {part.unit for part in r.set_aside} == {"cell"}


def test_both_matrices_of_the_recommendation(shared_data):
    """Published with what must come out of them: as many stimuli as scores recovered."""
    folder = shared_data / "subjective_quality/p910_demo"
    for name, shape in (("sample_data", (79, 26)), ("small_sample_data", (30, 20))):
        for wide in (None, "raters"):
            r = read_ratings(folder / f"{name}.csv", wide=wide)
            assert (r.n_stimuli, r.n_raters) == shape
            cells = sum(part.count for part in r.set_aside if part.unit == "cell")
            assert r.n_ratings + cells == shape[0] * shape[1]
