"""The example of every verb's help runs as it is printed, against files that are made here."""

from __future__ import annotations

import io
import json
import shlex
import shutil
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run_here
from tests.cli.heads_data import write_embeddings, write_ratings
from tests.cli.pairs_data import study as study_of_pairs

from affectlab.cli.tree import find_verb, verbs
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ELSEWHERE = {
    "evaluate text": "weights of a published model",
    "train text": "texts enough to learn from; tests/cli/test_train_text.py has some",
    "train difference": "pairs enough to learn from; tests/cli/test_train_difference.py has some",
    "train preference": "items enough to learn from; tests/cli/test_train_preference.py has some",
    "calibrate": "trained heads; tests/cli/test_calibrate.py trains some",
    "train vision": "weights of a published encoder",
    "train semi": "weights of a published encoder",
    "rate": "weights of a published model",
    "emonet-face hinted": "a hosted model",
    "socratis reactions": "weights of a published model",
    "ratings fetch": "a published data set",
    "reproduce": "a published data set",
    "demo": "most of a minute; `make package` runs it",
    "doctor": "minutes to import all libraries; tests/cli/test_doctor.py imports some",
    "study serve": "runs until it is interrupted; tests/study serve studies",
    "study pay": "an account at a platform; tests/study pay at a local server",
    "face-expressions jnd --show strips": "films; test_face_expressions_jnd.py films some",
    "study erase": "the pseudonym of someone who took part",
}
"""What an example needs that is not made here; tests of the verb run it against small things."""
WRITES = ("--out", "-o", "--kept", "--figures", "--report", "--page")


def _examples() -> dict[str, tuple[str, str]]:
    """Give verbs and their examples; the second and third of a verb with the choice in its name."""
    found = {}
    for words in verbs():
        verb = find_verb(words)
        assert verb is not None
        for number, example in enumerate(verb.examples):
            choice = f" {' '.join(example.split()[-2:])}" if number else ""
            found[" ".join(words) + choice] = (" ".join(words), example)
    return found


CASES = _examples()


def _people(path: Path, n: int = 30, raters: int = 6, seed: int = 0) -> None:
    """Ratings from 0 to 7 of two labels, with a few ages and genders of stimuli and raters."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "stimulus": f"face{k:02d}",
            "rater": f"p{rater}",
            "label": label,
            "value": int(np.clip((3 * k + 2 * place) % 8 + rng.integers(-1, 2), 0, 7)),
            "gender": ("woman", "man")[k % 2],
        }
        for k in range(n)
        for rater in range(raters)
        for place, label in enumerate(("joy", "fear", "awe"))
    ]
    pl.DataFrame(rows).write_csv(path)


def _model(path: Path, seed: int = 1, name: str = "net") -> None:
    rng = np.random.default_rng(seed)
    rows = [
        (f"face{k:02d}", name, "model", name, label, int((3 * k + 2 * p) % 8), "long", "ok")
        for k in range(30)
        for p, label in enumerate(("joy", "fear", "awe"))
    ]
    columns = ["stimulus", "rater", "rater_kind", "model", "label", "value", "prompt", "outcome"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    noise = pl.Series(rng.integers(-1, 2, table.height))
    table.with_columns((pl.col("value") + noise).clip(0, 7)).write_csv(path)


def _asked(path: Path) -> None:
    """Two models, each asked in two ways."""
    parts = []
    for seed, (model, readout) in enumerate(product(("small", "big"), ("generate", "logprob"))):
        _model(path.with_suffix(".csv"), seed, f"{model} {readout}")
        part = pl.read_csv(path.with_suffix(".csv"))
        parts.append(part.with_columns(model=pl.lit(model), readout=pl.lit(readout)))
    path.with_suffix(".csv").unlink()
    Ratings(pl.concat(parts).drop("prompt", "outcome"), scale="0-7").write(path)


def _choices(path: Path) -> None:
    """Every rater says of every label whether a text has it."""
    rng = np.random.default_rng(3)
    words = {"joy": "happy and glad", "fear": "scared of the dark", "awe": "a vast sky"}
    rows = [
        (f"t{k:02d}", f"p{rater}", label, int(own == label or rng.random() < 0.1), words[own])
        for k in range(30)
        for own in [list(words)[k % 3]]
        for rater in range(4)
        for label in words
    ]
    columns = ["stimulus", "rater", "label", "value", "text"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(path)


def _texts(path: Path) -> None:
    texts = ["Joy and delight, and no fear.", "Afraid, then joyful.", "Fear; delight; hygge."]
    pl.DataFrame({"text": texts}).write_csv(path)


def _heads(path: Path) -> None:
    strength = write_embeddings(path.parent / "emb", 60, 1)
    write_ratings(path.parent / "ratings.csv", strength, 1)


def _one_label(path: Path) -> None:
    _people(path, n=120)
    pl.read_csv(path).filter(label="joy").write_csv(path)


def _prompts(path: Path) -> None:
    run_here("stimuli", "prompts", 6, "--out", path)


def _faces(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    prompts = path.with_name("prompts.csv")
    _prompts(prompts)
    run_here("stimuli", "images", prompts, "--out", path.parent)


def _films(path: Path) -> None:
    from affectlab.simulate import draw_transitions

    draw_transitions(1, 2).save(path)


def _frames(path: Path) -> None:
    films = path.with_name("transitions")
    _films(films)
    run_here("stimuli", "frames", films, "--out", path.parent / "five")
    shutil.copytree(path.parent / "five", path.parent, dirs_exist_ok=True)


def _captions(path: Path) -> None:
    names = [f"p{k:02d}" for k in range(24)]
    texts = [f"Caption {name}" for name in names]
    files = [f"{name}.jpg" for name in names]
    pl.DataFrame({"stimulus": names, "file": files, "text": texts, "source": "one"}).write_csv(path)


def _reactions(path: Path) -> None:
    """Reactions of two people to a pair, in the published form."""
    told = "Many homes are lost in the storm tonight"
    said = [
        ["1.jpg", "Storm hits coast", [word], [told], {"age": "30-40"}]
        for word in ("sad", "hopeful")
    ]
    path.write_text(json.dumps({"1": said, "2": said}), encoding="utf-8")


def _comments(path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    rows = pl.read_csv(EXAMPLES / "curate/comments.csv").write_ndjson()
    path.write_bytes(zstandard.compress(rows.encode()))


def _review(path: Path) -> None:
    _texts(path.parent / "texts.csv")
    run_here("taxonomy", "build", path.parent / "texts.csv", "--out", path.parent)


def _taxonomy(path: Path) -> None:
    Taxonomy.from_labels(["joy", "fear", "awe"], name="mine").save(path)


def _study(path: Path) -> None:
    run_here("study", "init", path)


def _answered(path: Path) -> None:
    _study(path)
    run_here("study", "simulate", path, "--people", 8)


def _piloted(path: Path) -> None:
    _study(path)
    run_here("study", "simulate", path, "--people", 24, "--careless", 0, "--pilot")


def _with_an_account(path: Path) -> None:
    _copied(EXAMPLES)(path.parent)
    run_here("study", "user", path, "add", "anna")


def _copied(source: Path) -> Callable[[Path], None]:
    def copy(path: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, path, dirs_exist_ok=True)
        else:
            shutil.copy(source, path)

    return copy


def _judgements(*systems: str) -> Callable[[Path], None]:
    """Choices between two systems at a time; those named first are better."""

    def write(path: Path) -> None:
        rng = np.random.default_rng(5)
        rows = ["item,judge,answer,A,B"]
        for item in range(60):
            a, b = rng.choice(len(systems), 2, replace=False)
            for judge in range(6):
                chosen = "A" if rng.random() < 1 / (1 + np.exp(a - b)) else "B"
                rows.append(f"i{item},j{judge},{chosen},{systems[a]},{systems[b]}")
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")

    return write


def _scores(path: Path) -> None:
    score = np.random.default_rng(6).random(60)
    table = {"item": [f"i{k}" for k in range(60)], "metric": ["clip"] * 60, "score": score}
    pl.DataFrame(table).write_csv(path)


def _differences(path: Path) -> None:
    _one_label(path)
    kind = pl.when(pl.col("gender") == "man").then(pl.lit("intra")).otherwise(pl.lit("inter"))
    pl.read_csv(path).select("stimulus", "rater", "value", kind=kind).write_csv(path)


def _metrics(path: Path) -> None:
    near = [(3 * k) % 8 + 0.1 * (k % 5) for k in range(120)]
    pl.DataFrame({"stimulus": [f"face{k:02d}" for k in range(120)], "L1": near}).write_csv(path)


def _pairs(path: Path) -> None:
    study_of_pairs(path.parent)
    (path.parent / "five").mkdir()
    shutil.copy(path.parent / "frames.csv", path.parent / "five/frames.csv")


FILES: Mapping[str, Callable[[Path], None]] = {
    "ratings.csv": _people,
    "people.csv": _people,
    "pilot.csv": _one_label,
    "model.csv": _model,
    "net.csv": _model,
    "answers.csv": _model,
    "asked.parquet": _asked,
    "binary.csv": _choices,
    "comments.csv": _choices,
    "goemotions_raw.csv": _choices,
    "texts.csv": _texts,
    "prompts.csv": _prompts,
    "faces/": lambda path: _faces(path / "manifest.csv"),
    "faces/manifest.csv": _faces,
    "transitions/": _films,
    "frames.csv": _frames,
    "mine/review.csv": _review,
    "mine.toml": _taxonomy,
    "reactions.json": _reactions,
    "results/": _copied(EXAMPLES / "leaderboard"),
    "my-emotions.toml": _taxonomy,
    "examples/study-faces.toml": lambda path: _copied(EXAMPLES)(path.parent),
    "my-study.toml": _study,
    "RC_2019-01.zst": _comments,
    "judgements.csv": _judgements("human", "model"),
    "arena.csv": _judgements("human", "large", "small"),
    "scores.csv": _scores,
    "traces.csv": _copied(EXAMPLES / "dimensions/traces.csv"),
    "metrics.csv": _metrics,
    "plan.toml": _copied(EXAMPLES / "curate/plan.toml"),
}
_MIKELS = {
    name: _copied(EXAMPLES / "classifier" / f"{source}.csv")
    for name, source in {
        "people.csv": "people",
        "model.csv": "gentle",
        "net.csv": "gentle",
        "big.csv": "gentle",
        "small.csv": "harsh",
    }.items()
}


def _intended(path: Path) -> None:
    """Answers about pictures, with what each was made to show."""
    answers = pl.read_csv(EXAMPLES / "classifier/people.csv")
    shown = pl.col("answer").first().over("image").alias("shown")
    answers.with_columns(shown).write_csv(path)


OTHERS: Mapping[str, Mapping[str, Callable[[Path], None]]] = {
    **dict.fromkeys(
        (*("evaluate classification", "evaluate compare", "evaluate soft-labels"),),
        _MIKELS,
    ),
    "evaluate recognition": {**_MIKELS, "people.csv": _intended},
    "analyze circumplex": {"people.csv": _copied(EXAMPLES / "dimensions/people.csv")},
    "train heads": {"ratings.csv": _heads},
    "train crowd": {"ratings.csv": _heads},
    "evaluate difference": {"ratings.csv": _differences},
    "stimuli captions": {"pairs.csv": _captions},
    "taxonomy revise": {"pilot.csv": _choices},
    "study golden": {"my-study.toml": _piloted},
    "study approve": {"my-study.toml": _answered},
    "study reject": {"my-study.toml": _answered},
}
"""Files of the same name that hold something else for a verb."""


def _makers(name: str) -> dict[str, Callable[[Path], None]]:
    verb, example = CASES[name]
    makers = dict(FILES)
    if "pairs.csv" in example and verb.startswith("face-expressions"):
        makers["ratings.csv"] = _pairs
    if verb == "study init":
        del makers["my-study.toml"]
    return makers | dict(OTHERS.get(verb, {}))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ELSEWHERE])
def test_the_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.StringIO("a long password of hers\n" * 2))
    verb, example = CASES[name]
    given = shlex.split(example)
    makers = _makers(name)
    for before, token in zip(["", *given], given, strict=False):
        if token in makers and before not in WRITES and not (folder / token).exists():
            (folder / token).parent.mkdir(parents=True, exist_ok=True)
            makers[token](folder / token)
    done = run_here(*verb.split(), *given, width=80)
    assert done.stdout.strip()
    assert "Traceback" not in done.stderr


def test_what_is_left_out_is_a_verb() -> None:
    assert set(CASES) >= set(ELSEWHERE)
