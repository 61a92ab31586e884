"""Places of groups of stimuli are about other actors, where actors play several stimuli."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.analysis import circumplex
from affectlab.core.facts import IntervalFact
from affectlab.ratings import Ratings

ACTORS, FACES, PEOPLE = 12, 6, 5


def faces() -> Ratings:
    """Valence and arousal of faces in two moods, alike within actors."""
    rng = np.random.default_rng(1)
    actor = np.repeat(np.arange(ACTORS), FACES)
    level = 4 + np.arange(actor.size) % 2 + rng.normal(0, 1.5, (2, ACTORS))[:, actor]
    value = level[:, :, None] + rng.normal(0, 0.5, (2, actor.size, PEOPLE))
    label, stimulus, rater = (part.ravel() for part in np.indices(value.shape))
    return Ratings(
        {
            "stimulus": [f"s{k:02d}" for k in stimulus],
            "rater": [f"r{k}" for k in rater],
            "label": np.array(["valence", "arousal"])[label],
            "value": value.ravel(),
            "mood": np.array(["calm", "tense"])[stimulus % 2],
            "actor": [f"a{k:02d}" for k in actor[stimulus]],
        },
        scale="-9-9 interval",
    )


def test_errors_add_those_of_leaving_out_actors() -> None:
    ratings = faces()
    found = circumplex(ratings, by="mood")
    raters, alone = circumplex(ratings, by="mood", cluster="none"), found.to_frame("points")
    assert found.settings["units"] == "actors"
    assert set(alone["target"]) == {"both"}
    made = IntervalFact.of_row(found.table("points").frame["interval"][0])
    assert made == IntervalFact("jackknife", ("actors", "raters"))
    single = raters.to_frame("points")
    for axis in "xy":
        wide, narrow = (
            (frame[f"{axis}_high"] - frame[f"{axis}_low"]).to_numpy() for frame in (alone, single)
        )
        assert (wide > 1.5 * narrow).all()
    assert (alone["major"] > 1.3 * single["major"]).all()
    assert alone["x"].to_list() == pytest.approx(single["x"].to_list())


def test_stimuli_of_an_actor_tell_of_that_actor() -> None:
    ratings = faces()
    own, plain = circumplex(ratings, by="actor"), circumplex(ratings, by="actor", cluster="none")
    assert own.to_frame("points").equals(plain.to_frame("points"))
    assert own.settings["units"] == "stimuli"
    assert own.to_frame("points")["x_low"].is_finite().all()
