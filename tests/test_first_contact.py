"""What somebody sees who calls the package for the first time from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import affectlab
from affectlab.core.environment import installing
from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError
from affectlab.evaluation import alignment
from affectlab.ratings import describe_ratings, read_models, read_ratings
from affectlab.reliability import krippendorff_alpha


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "ratings.csv"
    made.write_text("image,annotator,rating\na,x,3\nb,x,4\na,y,3\nb,y,5\n")
    return made


def test_what_is_printed_is_the_table(file: Path) -> None:
    ratings = read_ratings(file, scale="1-7")
    shown = str(krippendorff_alpha(ratings)).splitlines()
    assert shown[0].split() == ["Label", "Value", "Items", "Raters", "Ratings"]
    assert shown[1].split() == ["rating", "0.833", "2", "2", "4"]
    assert "stimuli per rater    2" in str(ratings)
    assert repr(ratings) == "Ratings(4 answers, 2 stimuli, 2 raters, ordinal 1 to 7, step 1)"


def test_a_description_is_printed_with_its_commands(file: Path) -> None:
    shown = str(describe_ratings(file, scale="1-7"))
    assert "image      the stimulus  its name" in shown
    assert shown.splitlines()[-1] == f"  read_ratings({str(file)!r}, scale='1-7')"


def test_misspelt_names_are_told(file: Path) -> None:
    ratings = read_ratings(file, scale="1-7")
    with pytest.raises(TypeError, match="'scal'; did you mean 'scale'"):
        read_ratings(file, scal="1-7")  # type: ignore[call-arg]
    for function in (describe_ratings, lambda path, **more: read_models(path, ratings, **more)):
        with pytest.raises(InputError, match="unknown option 'formt'; did you mean 'format'"):
            function(file, formt="table")
    with pytest.raises(TypeError, match="'levle'; did you mean 'level'"):
        krippendorff_alpha(ratings, levle="nominal")
    with pytest.raises(TypeError, match="'modles'; did you mean 'models'"):
        alignment(ratings, modles=ratings)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="did you mean 'read_ratings'"):
        affectlab.read_rating  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match=r"it stands in affectlab\.evaluation$"):
        affectlab.alignment  # type: ignore[attr-defined] # noqa: B018


def test_an_error_inside_a_function_stays_what_it_is(file: Path) -> None:
    with pytest.raises(TypeError) as error:
        read_ratings(file, columns=3)  # type: ignore[arg-type]
    assert "did you mean" not in str(error.value)


def test_how_to_install_fits_where_the_package_comes_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(installing, "_clone", lambda: None)
    monkeypatch.setattr(installing, "_address", lambda: "")
    assert install_line("files") == 'pip install "affectlab[files]"'
    monkeypatch.setattr(installing, "_address", lambda: "git+https://example.org/a.git")
    assert install_line("files") == 'pip install "affectlab[files] @ git+https://example.org/a.git"'
    monkeypatch.setattr(installing, "_clone", lambda: tmp_path)
    said = f'pip install -c {tmp_path}/constraints.txt -e "{tmp_path}[files]"'
    assert install_line("files") == said
    monkeypatch.chdir(tmp_path)
    assert install_line() == 'pip install -c constraints.txt -e "."'
