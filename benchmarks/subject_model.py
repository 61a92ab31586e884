"""The subject model of ITU-T P.910 on a crowd study, beside ``sureal``."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._harness import Size, Workload, require_close
from benchmarks._sessions import Study, study, upstream


def make(size: Size) -> Study:
    """Build the study."""
    return study(size)


def ours(data: Study) -> Any:
    """Fit ``p910``, from the table of ratings."""
    from affectlab.reliability import subject_model

    return subject_model(data.ratings, method="p910")


def theirs(data: Study) -> dict[str, Any]:
    """Fit the peer, from the codes."""
    return upstream(data.stimulus, data.rater, data.value, data.shape)


def check(_: Study, mine: Any, peer: dict[str, Any]) -> str:
    """Compare scores, biases, inconsistencies, errors and the number of rounds."""
    scores, raters = mine.to_frame().sort("stimulus"), mine.raters_frame().sort("rater")
    for ours_column, peers in (
        (raters["bias"], "observer_bias"),
        (raters["inconsistency"], "observer_inconsistency"),
    ):
        require_close(ours_column.to_numpy(), peer[peers], 1e-8, peers)
    # Where a rater collapsed, sureal has an error of nothing, and ours is withheld.
    error, peer_error = scores["se"].to_numpy(), np.array(peer["quality_scores_std"])
    withheld = np.isnan(error)
    require_close(error[~withheld], peer_error[~withheld], 1e-8, "errors of scores")
    require_close(peer_error[withheld], 0 * peer_error[withheld], 1e-6, "errors withheld")
    require_close(mine.iterations, peer["num_iter"], 0, "rounds")
    same = require_close(scores["value"].to_numpy(), peer["quality_scores"], 1e-8, "scores")
    return f"{same}, and so are biases, inconsistencies and errors; {mine.iterations} rounds each"


WORKLOADS = (
    Workload(
        name="subject model p910, 70,500 stimuli x 1,021 raters, 2.256 M ratings",
        peer="sureal",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=500,
        memory_mb=150,
        packages=("sureal",),
        best="It has one way.",
        rounds=3,
    ),
)
