"""Reviews by people: the study that is written, its answers, and what follows from them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.protocols import load_protocol
from affectlab.ratings import Ratings
from affectlab.stimuli.review.decisions import review_decisions
from affectlab.stimuli.review.queue import review_queue

PROBLEMS = ["artefacts", "ambiguous", "stereotype", "harmful", "other"]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "faces"
    (folder / "images").mkdir(parents=True)
    for k in range(3):
        Image.new("RGB", (8, 8), (k, k, k)).save(folder / "images" / f"p{k}.png")
    table = folder / "manifest.csv"
    table.write_text(
        "stimulus,file,label,prompt\n"
        + "".join(f'p{k},images/p{k}.png,Awe,"A face, glad"\n' for k in range(3)),
        encoding="utf-8",
    )
    return table


COMMENTS = pl.DataFrame({"id": ["c1", "c2"], "text": ["One of us.\nTwo.", 'He said "they".']})


class TestQueue:
    def test_pictures_make_a_study(self, pictures: Path, tmp_path: Path) -> None:
        from affectlab.study import load_study, workload
        from affectlab.study.design.stimuli import stimuli_of

        queue = review_queue(pictures, tmp_path / "review", raters=3, contact='A "B", a@b.org')
        study = load_study(queue.study)
        assert study.protocol.name == "review"
        assert study.protocol.routing.raters == 3
        assert study.design.study.contact == 'A "B", a@b.org'
        found = stimuli_of(study)
        assert [one.name for one in found] == ["p0", "p1", "p2"]
        assert found[0].files[0].read_bytes() == (pictures.parent / "images/p0.png").read_bytes()
        # Reviewers, and those who read the study's tables, learn nothing but the picture.
        assert all(one.attributes == {} for one in found)
        work = workload(study)
        assert (work.stimuli, work.answers, work.warnings) == (3, 9, ())

    def test_comments_make_a_study(self, tmp_path: Path) -> None:
        from affectlab.study import load_study
        from affectlab.study.design.stimuli import stimuli_of

        queue = review_queue(COMMENTS, tmp_path / "new" / "review", "comments", per_session=1)
        study = load_study(queue.study)
        assert study.protocol.name == "review_comments"
        assert [one.texts for one in stimuli_of(study)] == [
            ("One of us.\nTwo.",),
            ('He said "they".',),
        ]
        assert study.design.sessions.most_per_rater == 2
        assert "hateful" in study.design.consent.text  # type: ignore[union-attr]

    def test_nothing_is_overwritten(self, pictures: Path, tmp_path: Path) -> None:
        queue = review_queue(pictures, tmp_path / "review")
        before = queue.study.read_bytes()
        with pytest.raises(InputError, match=r"review\.toml is there already"):
            review_queue(pictures, tmp_path / "review", raters=5)
        assert queue.study.read_bytes() == before
        assert review_queue(pictures, tmp_path / "review", name="second").n_items == 3

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ([("a", "x.png"), ("a", "x.png")], "'a' stands twice"),
            ([("", "x.png")], "row 1: stimulus is empty"),
            ([("a", None)], "row 1: 'a' has no file; leave it out"),
            ([("a", "../faces.csv")], "lies outside"),
            ([("a", "none.png")], "is not in"),
            ([], "there is nothing to review"),
        ],
    )
    def test_bad_items(self, tmp_path: Path, rows: list[tuple[str, str]], said: str) -> None:
        (tmp_path / "images").mkdir()
        (tmp_path / "images" / "x.png").write_bytes(b"x")
        (tmp_path / "faces.csv").write_text("x")
        schema = {"stimulus": pl.String, "file": pl.String}
        table = pl.DataFrame(rows, schema=schema, orient="row")
        with pytest.raises(InputError, match=said):
            review_queue(table, tmp_path / "review", images=tmp_path / "images")
        assert not (tmp_path / "review").exists()

    def test_bad_arguments(self, pictures: Path, tmp_path: Path) -> None:
        for arguments, said in (
            ({"raters": 0}, "raters = 0"),
            ({"per_session": 0}, "per_session = 0"),
            ({"per_session": 2001}, "expected 1 to 2,000"),
            ({"name": "My review"}, "name 'My review'"),
            ({"kind": "films"}, "unknown kind of review 'films'"),
            (
                {"kind": "comments"},
                "'text' is missing; expected stimulus and text, found stimulus",
            ),
        ):
            with pytest.raises(InputError, match=said):
                review_queue(pictures, tmp_path / "review", **arguments)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="images: expected the folder"):
            review_queue(pl.read_csv(pictures), tmp_path / "review")
        with pytest.raises(InputError, match="there is no such file"):
            review_queue(tmp_path / "none.csv", tmp_path / "review")


@pytest.mark.parametrize("name", ["review", "review_comments", "review_emotions"])
def test_answers_that_the_protocols_take(name: str) -> None:
    protocol = load_protocol(name)
    labels = protocol.labels()
    assert labels[0] == "fine"
    assert protocol.check({"chosen": ["fine"]}) == []
    assert protocol.check({"chosen": [labels[1], "other"], "suggestion": "a watermark"}) == []
    assert protocol.check({"chosen": []}) == ["0 labels are chosen; expected at least 1"]
    assert protocol.check({"chosen": ["fine", labels[1]]}) == [
        "'fine' allows no other choice beside it"
    ]


def answered(*answers: tuple[str, str, Sequence[str]]) -> Ratings:
    """Ratings as an export has them: a row for each label of each answer."""
    labels = [*PROBLEMS, "fine"]
    rows = [
        (stimulus, rater, label, float(label in chosen))
        for stimulus, rater, chosen in answers
        for label in labels
    ]
    names = ["stimulus", "rater", "label", "value"]
    return Ratings(pl.DataFrame(rows, schema=names, orient="row"), scale="binary")


FOUR = answered(
    ("a", "x", ["fine"]),
    ("a", "y", ["fine"]),
    ("b", "x", ["artefacts", "harmful"]),
    ("b", "y", ["harmful"]),
    ("c", "x", ["ambiguous"]),
    ("c", "y", ["fine"]),
    ("d", "x", ["fine"]),
)


class TestDecisions:
    def test_one_objection_will_do(self) -> None:
        found = review_decisions(FOUR, raters=2, items=["d", "c", "b", "a", "e"])
        assert found.rows() == [
            ("d", None, "1 of 2 answers", 1, "fine 1", ""),
            ("c", False, "ambiguous", 2, "ambiguous 1, fine 1", ""),
            ("b", False, "harmful, artefacts", 2, "harmful 2, artefacts 1", ""),
            ("a", True, "", 2, "fine 2", ""),
            ("e", None, "no answer", 0, "", ""),
        ]

    def test_a_majority(self) -> None:
        found = review_decisions(FOUR, rule="majority")
        assert found.select("stimulus", "keep").rows() == [
            ("a", True),
            ("b", False),
            ("c", None),
            ("d", True),
        ]
        assert found["reason"][2] == "1 of 2 reviewers object, 1 do not"
        wanted = review_decisions(FOUR, rule="majority", raters=3)
        assert wanted["keep"].to_list() == [True, False, None, None]
        assert wanted["reason"][3] == "1 of 3 answers"

    def test_a_number_of_objections(self) -> None:
        found = review_decisions(FOUR, rule=2)
        assert found["keep"].to_list() == [True, False, True, None]
        assert found["reason"][3] == "1 of 2 answers"

    def test_checks_train_and_do_not_judge(self) -> None:
        table = FOUR.to_frame().with_columns(
            trial_kind=pl.when(pl.col("rater") == "y")
            .then(pl.lit("golden"))
            .otherwise(pl.lit("main"))
        )
        found = review_decisions(Ratings(table, scale="binary"))
        assert found["n_raters"].to_list() == [1, 1, 1, 1]

    def test_a_rater_who_is_asked_again_is_one_rater(self) -> None:
        table = pl.concat(
            [
                answered(("a", "x", ["fine"])).to_frame().with_columns(trial_kind=pl.lit("main")),
                answered(("a", "x", ["harmful"]))
                .to_frame()
                .with_columns(trial_kind=pl.lit("repeat")),
            ]
        )
        (row,) = review_decisions(Ratings(table, scale="binary")).rows()
        assert row[:4] == ("a", False, "harmful", 1)

    def test_bad_input(self, tmp_path: Path) -> None:
        other = Ratings(
            {"stimulus": ["a"], "rater": ["x"], "label": ["joy"], "value": [1]}, scale="binary"
        )
        with pytest.raises(InputError, match=r"no answer is about 'fine'.* found the labels: joy"):
            review_decisions(other)
        bare = Ratings({"stimulus": ["a"], "rater": ["x"], "value": [1]}, scale="binary")
        with pytest.raises(InputError, match="have no labels"):
            review_decisions(bare)
        with pytest.raises(InputError, match="'d' was reviewed and is none of the items"):
            review_decisions(FOUR, items=["a", "b", "c"])
        for rule in ("all", 0, -1, True, 1.5):
            with pytest.raises(InputError, match="expected 'any', 'majority' or a number"):
                review_decisions(FOUR, rule=rule)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="raters = 0"):
            review_decisions(FOUR, raters=0)
        with pytest.raises(InputError, match=r"there is no ratings\.parquet"):
            review_decisions(tmp_path)


answers_of_people = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from("wxyz"),
        st.one_of(st.just(["fine"]), st.sets(st.sampled_from(PROBLEMS), min_size=1).map(sorted)),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda answer: answer[:2],
)


@settings(max_examples=60)
@given(answers_of_people, st.sampled_from(["any", "majority", 1, 2, 3]), st.integers(1, 4))
def test_against_all_ways_it_could_go_on(
    answers: list[tuple[str, str, list[str]]], rule: str | int, raters: int
) -> None:
    """Decided is what no answer that is still wanted could turn over; judged by trying them all."""
    if isinstance(rule, int) and rule > raters:
        with pytest.raises(InputError, match="cannot object so often"):
            review_decisions(answered(*answers), rule=rule, raters=raters)
        return

    def out(objections: int, n: int) -> bool | None:
        if rule == "majority":
            half = Fraction(n, 2)
            return None if objections == half else objections > half
        return objections >= (1 if rule == "any" else int(rule))

    found = review_decisions(answered(*answers), rule=rule, raters=raters)  # type: ignore[arg-type]
    for row in found.iter_rows(named=True):
        mine = [chosen for stimulus, _, chosen in answers if stimulus == row["stimulus"]]
        objections, n = sum(chosen != ["fine"] for chosen in mine), len(mine)
        left = max(0, raters - n)
        ends = {
            out(objections + sum(more), n + left) for more in itertools.product((0, 1), repeat=left)
        }
        if rule == "majority":
            expected = {True: False, False: True}.get(ends.pop()) if len(ends) == 1 else None  # type: ignore[arg-type]
        else:
            expected = False if ends == {True} else True if not left else None
        assert row["keep"] is expected
        assert row["n_raters"] == n
        assert bool(row["reason"]) == (expected is not True)


def test_from_people_to_decisions(pictures: Path, tmp_path: Path) -> None:
    """The whole way: written, served to two reviewers, exported, decided."""
    from affectlab.study import export, load_study, open_store
    from affectlab.study.delivery.answers import Submission
    from affectlab.study.people.entry import enter
    from affectlab.study.recruit.eligibility import Visitor
    from affectlab.study.service import Service

    queue = review_queue(pictures, tmp_path / "review")
    told = {
        "one": {"p0": ["fine"], "p1": ["artefacts", "other"], "p2": ["fine"]},
        "two": {"p0": ["fine"], "p1": ["fine"], "p2": ["fine"]},
    }
    with open_store(load_study(queue.study)) as store:
        service = Service(store)
        for person, says in told.items():
            token = enter(store, Visitor())
            state = service.state(token)
            while state["stage"] != "trials":
                data = {"agreed": True, "version": "1"} if state["stage"] == "consent" else {}
                state = service.advance(token, state["stage"], data)
            for number in range(3):
                trial = state["trial"]
                assert trial["exclusive"] == ["fine"]
                assert trial["note"] == "If it is another problem, say which:"
                (_,) = trial["stimulus"]["images"]
                chosen = says[Path(service_name(store, trial)).stem]
                answer: dict[str, object] = {"chosen": chosen}
                if "other" in chosen:
                    answer["suggestion"] = "a watermark"
                state = service.answer(
                    token,
                    Submission(
                        int(trial["id"]), answer, f"{person}-answer-{number}", "checkbox", 900
                    ),
                )
        export(store, tmp_path / "answers")
    found = review_decisions(tmp_path / "answers", raters=2, items=["p0", "p1", "p2"])
    assert found.rows() == [
        ("p0", True, "", 2, "fine 2", ""),
        ("p1", False, "artefacts, other", 2, "artefacts 1, fine 1, other 1", "a watermark"),
        ("p2", True, "", 2, "fine 2", ""),
    ]


def service_name(store: object, trial: dict[str, object]) -> str:
    """Name of the stimulus that a trial shows, which the page itself is not told."""
    from sqlalchemy import select

    from affectlab.study.tables import trials

    with store.database.read() as connection:  # type: ignore[attr-defined]
        number = connection.execute(
            select(trials.c.stimulus_id).where(trials.c.id == int(trial["id"]))  # type: ignore[call-overload]
        ).scalar_one()
    return str(store.content[number]["name"])  # type: ignore[attr-defined]
