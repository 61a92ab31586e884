from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.reliability.screening import careless_raters
from affectlab.simulate import demo_study, recovery
from affectlab.simulate.demo import DemoStudy
from affectlab.taxonomy import load_taxonomy


@pytest.fixture(scope="module")
def study() -> DemoStudy:
    return demo_study(0)


def test_shape_of_the_demonstration(study: DemoStudy) -> None:
    ratings = study.ratings
    assert len(study.faces) == ratings.n_stimuli == 240
    assert ratings.label_names == load_taxonomy("mikels").labels
    assert str(ratings.scale) == "ordinal 0 to 7, step 1"
    kinds = ratings.raters["rater_kind"].value_counts()
    assert dict(kinds.iter_rows()) == {"simulated": 12, "model": 3}
    assert set(ratings.frame["trial_kind"].unique()) == {"main", "golden", "repeat"}
    assert ratings.set_aside == ()
    assert {"expression", "skin_tone", "age_group", "hair"} <= set(ratings.stimuli.columns)


def test_some_answers_of_people_are_missing(study: DemoStudy) -> None:
    people = study.ratings.answers().humans()
    assert people.n_ratings / (240 * 8 * 12) == pytest.approx(0.97, abs=0.01)


def test_the_careless_are_found_and_models_rank_as_named(study: DemoStudy) -> None:
    found = recovery(study.simulation)
    careless = careless_raters(study.ratings.humans()).raters_to_drop()
    assert set(careless) == set(found.raters.filter(~pl.col("attentive"))["rater"])
    agreement = dict(found.raters.select("rater", "agreement").iter_rows())
    assert agreement["model-good"] > agreement["model-mediocre"] > agreement["model-poor"]


def test_poor_model_takes_fear_for_awe(study: DemoStudy) -> None:
    fearful = study.ratings.stimuli.filter(
        (pl.col("expression") == "fear") & (pl.col("intensity") == 1.0)
    )["stimulus"].to_list()

    def mean(rater: str, label: str) -> float:
        return float(
            np.mean(study.ratings.select(stimuli=fearful, raters=[rater], labels=[label]).value)
        )

    assert mean("model-poor", "awe") > mean("model-poor", "fear") + 1.0
    assert mean("model-good", "fear") > mean("model-good", "awe") + 1.0


def test_same_seed_same_study(study: DemoStudy) -> None:
    again = demo_study(0)
    assert again.ratings.frame.equals(study.ratings.frame)
    assert again.simulation.golden.equals(study.simulation.golden)
    assert again.faces == study.faces
    assert not demo_study(1).ratings.frame.equals(study.ratings.frame)


def test_drawing_writes_one_file_per_stimulus(tmp_path: Path) -> None:
    study = demo_study(identities=1)
    table = study.draw(tmp_path, size=32)
    assert table["stimulus"].to_list() == [face.stimulus for face in study.faces]
    assert len(list(tmp_path.glob("*.png"))) == 24


def test_at_least_one_person_is_drawn() -> None:
    with pytest.raises(InputError, match="identities = 0"):
        demo_study(identities=0)
