"""Which column says what stimuli were drawn with, and when none does."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, stimulus_clusters


def ratings_with(n: int = 24, **columns: list) -> Ratings:
    """Two raters of n stimuli, which have some columns."""
    names = [f"s{k:02d}" for k in range(n)]
    answers = Ratings(
        {
            "stimulus": names * 2,
            "rater": ["r"] * n + ["q"] * n,
            "value": [k % 5 for k in range(n)] * 2,
        },
        scale="0-4",
    )
    return answers.with_stimuli(pl.DataFrame({"stimulus": names, **columns}))


SIX = [f"v{k // 4}" for k in range(24)]
"""Six clusters of four."""


@pytest.mark.parametrize(
    ("column", "called"),
    [
        *(("actor", "actor"), ("Actress", "actor"), ("ActorID", "actor"), ("actor_nr", "actor")),
        *(("Schauspieler", "actor"), ("acteur", "actor"), ("actriz", "actor"), ("attore", "actor")),
        *(("person_id", "person"), ("personne", "person"), ("face_identity", "identity")),
        *(("Identität", "identity"), ("subject", "subject"), ("subject of the picture", None)),
        *(("speaker", "speaker"), ("Sprecherin", "speaker"), ("locuteur", "speaker")),
        *(("source_video", "video"), ("vídeo", "video"), ("film", "film"), ("movie title", "film")),
        *(("película", "film"), ("author", "author"), ("Autor", "author"), ("écrivain", None)),
        *(("UserID", "user"), ("thread_id", "thread"), ("patient", "patient")),
        *(("emotion", None), ("intended", None), ("actor_age", None), ("actor_gender", None)),
        *(("video_length", None), ("gender", None), ("condition", None), ("film_genre", None)),
    ],
)
def test_names_of_the_field_are_known(column: str, called: str | None) -> None:
    found = stimulus_clusters(ratings_with(**{column: SIX}))
    assert found.name == (called or "")
    if called:
        assert found.of["s05"] == "v1"
        assert found.on(["s00", "s05", "s06"]).code.tolist() == [0, 1, 1]
    # Whatever it is called, it can be named.
    own = stimulus_clusters(ratings_with(**{column: SIX}), column)
    assert own.on(["s00", "s05", "s06"]).code.tolist() == [0, 1, 1]
    assert stimulus_clusters(ratings_with(**{column: SIX}), "none").of is None


@pytest.mark.parametrize(
    "values",
    [
        [f"v{k}" for k in range(24)],  # one of each stimulus
        ["v"] * 24,  # one of all
        [f"v{max(k - 20, 0)}" for k in range(24)],  # several stimuli in one of five values alone
        ["female", "male"] * 12,
        ["0", "1"] * 12,
        [True, False] * 12,
        [None] * 24,
    ],
)
def test_a_name_does_not_decide_against_the_shape(values: list) -> None:
    assert stimulus_clusters(ratings_with(actor=values)).of is None


def test_numbers_are_names_of_clusters() -> None:
    found = stimulus_clusters(ratings_with(actor=[k // 4 for k in range(24)]))
    assert found.on([f"s{k:02d}" for k in range(24)]).n == 6


def test_columns_of_those_who_answer_are_no_clusters() -> None:
    """Of a diary, in which every person answers about moments of their own."""
    names = [f"s{k:02d}" for k in range(24)]
    diary = Ratings(
        {"stimulus": names, "rater": SIX, "value": [k % 5 for k in range(24)]}, scale="0-4"
    ).with_stimuli(pl.DataFrame({"stimulus": names, "person": SIX}))
    assert stimulus_clusters(diary).of is None
    assert stimulus_clusters(diary, "person").name == "person"


def test_of_columns_within_each_other_the_widest_counts() -> None:
    film = [f"f{k // 12}" for k in range(24)]
    for columns in ({"actor": SIX, "film": film}, {"film": film, "actor": SIX}):
        found = stimulus_clusters(ratings_with(**columns))
        assert (found.name, found.notes) == ("film", ())
    # The same said twice is the first.
    twice = stimulus_clusters(ratings_with(person=SIX, actor_id=[name[1:] for name in SIX]))
    assert (twice.name, twice.notes) == ("person", ())
    # A column of another shape takes no part.
    found = stimulus_clusters(ratings_with(actor=SIX, film=["f"] * 24))
    assert found.name == "actor"


def test_of_columns_across_each_other_none_is_taken_and_it_is_said() -> None:
    film = [f"f{k % 6}" for k in range(24)]
    found = stimulus_clusters(ratings_with(actor=SIX, film=film))
    assert found.of is None
    (note,) = found.notes
    assert "'actor' and 'film', neither within the other" in note
    assert found.notes_for(["both"]) == (note,)
    assert found.notes_for(["raters", "none"]) == ()
    assert stimulus_clusters(ratings_with(actor=SIX, film=film), "film").name == "film"


def test_stimuli_of_which_nothing_is_said_stand_alone() -> None:
    found = stimulus_clusters(ratings_with(), {"s00": "x", "s01": "x", "s02": None, "s03": np.nan})
    assert found.name == "cluster"
    clusters = found.on(["s00", "s01", "s02", "s03", "s04"])
    assert (clusters.n, np.unique(clusters.code).size) == (4, 4)
    assert clusters.code[0] == clusters.code[1]
    # A stimulus that is called like a cluster is no member of it.
    assert stimulus_clusters(ratings_with(), {"s00": "s01"}).on(["s00", "s01"]).n == 2


def test_clusters_are_numbered_by_their_names_whatever_the_order_of_rows() -> None:
    found = stimulus_clusters(ratings_with(actor=SIX[::-1]))
    first, last = found.on(["s00", "s23"]), found.on(["s23", "s00"])
    assert (first.code.tolist(), last.code.tolist()) == ([1, 0], [0, 1])


def test_arrays_have_the_cluster_of_each_unit() -> None:
    data = np.zeros((3, 4))
    assert stimulus_clusters(data).of is None
    found = stimulus_clusters(data, ["a", "a", "b", "b"])
    assert found.on(["0", "1", "2", "3"]).code.tolist() == [0, 0, 1, 1]
    assert stimulus_clusters(data, np.array([7, 7, 8, 8])).on(["0", "3"]).code.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("data", "cluster", "said"),
    [
        (ratings_with(actor=SIX), "actress", "did you mean 'actor'"),
        (ratings_with(), "rater", "none"),
        (ratings_with(), ["a"] * 24, "expected a column of the stimulus table"),
        (np.zeros((3, 4)), "actor", "'actor' for an array of 4 units"),
        (np.zeros((3, 4)), ["a", "b"], "2 of them for an array of 4 units"),
    ],
)
def test_what_cannot_be_a_cluster(data, cluster, said: str) -> None:
    with pytest.raises(InputError, match=said):
        stimulus_clusters(data, cluster)


def test_a_mapping_of_other_stimuli_is_refused() -> None:
    with pytest.raises(InputError, match="nothing is said of any stimulus, such as 's00'"):
        stimulus_clusters(ratings_with(), {"t1": "x"}).on(["s00", "s01"])
