"""``python -m benchmarks.study_load``: many people at once, beside their own load generator.

There is no peer to compare with: what is measured is how long saving an answer takes while a given
number of people answer, whether anything is lost or counted twice, and how many answers a second
the server takes at most. Writes ``STUDY_LOAD.md``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks._servers import Missing, StudyServer, database_of
from benchmarks._study_browser import Load, take_part

WORKLOADS = ()
"""None with a peer."""

_HERE = Path(__file__).parent
_TRIALS = 50
_THINK = 2.0
_STIMULI = 1000
_FACES = 25
_RATERS = 32
_GOAL_MS = {"sqlite": 250.0, "postgres": 150.0}
_GOAL_PEOPLE = 300
_STUDY = f"""
[study]
name = "load"
title = "What do these faces show?"
[protocol]
name = "intensity"
change = {{ asks = {{ taxonomy = "mikels", group_by = [] }} }}
[stimuli]
folder = "faces"
[sessions]
trials = {_TRIALS}
raters = {_RATERS}
[consent]
text = "Taking part is voluntary."
"""


@dataclass(frozen=True)
class Measured:
    """One run."""

    database: str
    workers: int
    people: int
    think_s: float
    answers: int
    seconds: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    worst_ms: float
    errors: int
    lost: int
    """Acknowledged answers that are not in the database as they were sent."""
    double: int
    """Answers in the database beyond those acknowledged, and counts that are off."""
    completed: int
    generator_cpu: float
    """Cores that the load generator itself used."""

    @property
    def per_second(self) -> float:
        """Answers stored a second."""
        return self.answers / self.seconds


def make_pictures(folder: Path) -> None:
    """Draw a few faces, and put them there under many names."""
    from affectlab.simulate import face_specs, save_faces

    save_faces(folder / "drawn", face_specs(_FACES, ["awe"]), size=384)
    drawn = sorted((folder / "drawn").glob("*.png"))
    (folder / "faces").mkdir()
    for number in range(_STIMULI):
        shutil.copy(drawn[number % len(drawn)], folder / "faces" / f"face{number:04d}.png")


def check(study: Path, database: str | None, load: Load) -> tuple[int, int]:
    """Compare the database with what was acknowledged; count what is lost, and what is too much."""
    from sqlalchemy import func, select

    from affectlab.study import load_study, open_store
    from affectlab.study.tables import answers, tasks, trials

    with open_store(load_study(study), database) as store, store.database.read() as connection:
        rows = connection.execute(select(answers.c.key, answers.c.trial_id, answers.c.value)).all()
        found = {row.key: (row.trial_id, json.loads(row.value)) for row in rows}
        lost = sum(found.get(one.key) != (one.trial, one.answer) for one in load.stored)
        double = len(rows) - len({one.key for one in load.stored})
        counted = (
            select(trials.c.task_id, func.count().label("n"))
            .join(answers, answers.c.trial_id == trials.c.id)
            .where(answers.c.valid.is_(True), trials.c.task_id.is_not(None))
            .group_by(trials.c.task_id)
            .subquery()
        )
        double += connection.execute(
            select(func.count())
            .select_from(tasks.outerjoin(counted, counted.c.task_id == tasks.c.id))
            .where(tasks.c.valid != func.coalesce(counted.c.n, 0))
        ).scalar_one()
    return lost, double


def measure(
    folder: Path, kind: str, people: int, think: float, trials: int, workers: int
) -> Measured:
    """Serve an empty study, and let people take part at once."""
    study = folder / f"{kind}-{people}-{think:g}-{workers}.toml"
    study.write_text(_STUDY, encoding="utf-8")
    load = Load()

    async def everyone(port: int) -> None:
        async def person(number: int) -> None:
            # People come within the time of one trial, not all in one instant.
            await asyncio.sleep(think * number / people)
            await take_part([port], load, think=think, trials=trials, seed=number)

        await asyncio.gather(*(person(number) for number in range(people)))

    with database_of(kind) as database:
        options = [] if database is None else ["--database", database, "--workers", str(workers)]
        with StudyServer(study, *options) as server:
            used, began = _cpu(), time.perf_counter()
            asyncio.run(everyone(server.port))
            seconds = time.perf_counter() - began
            used = _cpu() - used
        lost, double = check(study, database, load)
    for sentence in sorted(set(load.errors))[:5]:
        print(f"  error: {sentence}")
    times = sorted(load.seconds)
    return Measured(
        database=kind,
        workers=workers,
        people=people,
        think_s=think,
        answers=len(times),
        seconds=seconds,
        p50_ms=_quantile(times, 0.50),
        p95_ms=_quantile(times, 0.95),
        p99_ms=_quantile(times, 0.99),
        worst_ms=_quantile(times, 1.0),
        errors=len(load.errors),
        lost=lost,
        double=double,
        completed=load.completed,
        generator_cpu=used / seconds,
    )


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _quantile(times: list[float], share: float) -> float:
    if not times:
        return float("nan")
    return 1000 * times[min(len(times) - 1, int(share * len(times)))]


def _line(one: Measured) -> str:
    goal = ""
    if one.people == _GOAL_PEOPLE and one.think_s:
        kept = one.p95_ms < _GOAL_MS[one.database] and not (one.errors or one.lost or one.double)
        goal = f"{'yes' if kept else 'no'} (p95 < {_GOAL_MS[one.database]:g} ms)"
    return (
        f"| {one.database} | {one.workers} | {one.people} | {one.think_s:g} | {one.answers:,} | "
        f"{one.per_second:.0f} | {one.p50_ms:.0f} | {one.p95_ms:.0f} | {one.p99_ms:.0f} | "
        f"{one.worst_ms:.0f} | {one.errors} | {one.lost} | {one.double} | "
        f"{one.generator_cpu:.2f} | {goal} |"
    )


def _kept(runs: list[Measured]) -> list[Measured]:
    """Put the runs to those of the page, in place of earlier ones of the same kind."""
    file = _HERE / "study_load.json"
    rows = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    both = {_kind(one): one for one in [*(Measured(**row) for row in rows), *runs]}
    return [both[kind] for kind in sorted(both)]


def _kind(one: Measured) -> tuple[bool, int, bool, int]:
    """Tells runs apart, and orders them: those without thinking time come last."""
    return one.database != "sqlite", one.workers, one.think_s == 0, one.people


def write(runs: list[Measured], machine: str) -> Path:
    """Write the runs as a page and as JSON; other kinds that were measured before stay."""
    runs = _kept(runs)
    head = "database | processes | people | thinking (s) | answers | answers/s | p50 ms | p95 ms |"
    head = f"| {head} p99 ms | worst ms | errors | lost | double | generator's cores | reached |"
    text = f"""# Many people at once

Written by `python -m benchmarks.study_load` on {datetime.now(UTC).date()}: {machine}. The load
generator and, where there is one, PostgreSQL run on the same cores as the server. Every person
answers up to {_TRIALS} trials of eight ratings (see the answers) and loads the picture of each. All
begin at once, which is where the slowest answers come from. Times are from sending an answer to the
reply, which comes after the commit. A thinking time of 0 is the most that the server takes. *Lost*
counts acknowledged answers that are not in the database exactly as sent; *double* counts answers
that nobody was told of, and tasks whose count is off. A run puts its rows in place of earlier ones
of the same kind and leaves the others, so that rows can be of different runs and versions.

{head}
|{"---|" * (head.count("|") - 1)}
"""
    page = _HERE / "STUDY_LOAD.md"
    page.write_text(text + "\n".join(map(_line, runs)) + "\n", encoding="utf-8")
    stored = json.dumps([asdict(one) for one in runs], indent=1)
    (_HERE / "study_load.json").write_text(stored + "\n", encoding="utf-8")
    return page


def main(arguments: list[str] | None = None) -> int:
    """Measure; the status is 1 when something was lost, counted twice, or failed."""
    from benchmarks.__main__ import _machine

    parser = argparse.ArgumentParser(prog="python -m benchmarks.study_load", description=__doc__)
    parser.add_argument("--people", type=int, nargs="*", default=[50, 100, 300, 600])
    parser.add_argument("--database", nargs="*", default=["sqlite", "postgres"])
    parser.add_argument("--workers", type=int, default=1, help="server processes (PostgreSQL)")
    parser.add_argument("--think", type=float, default=_THINK)
    parser.add_argument("--trials", type=int, default=_TRIALS)
    parser.add_argument("--saturate", type=int, default=32, help="people without thinking time")
    parser.add_argument("--dry", action="store_true", help="keep STUDY_LOAD.md as it is")
    chosen = parser.parse_args(arguments)
    runs: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="affectlab-load-") as name:
        make_pictures(Path(name))
        for kind in chosen.database:
            workers = 1 if kind == "sqlite" else chosen.workers
            plan: list[Any] = [(people, chosen.think) for people in chosen.people]
            for people, think in plan + ([(chosen.saturate, 0.0)] if chosen.saturate else []):
                try:
                    runs.append(measure(Path(name), kind, people, think, chosen.trials, workers))
                except Missing as missing:
                    print(f"{kind}: {missing}")
                    break
                print(_line(runs[-1]), flush=True)
    if runs and not chosen.dry:
        print(f"wrote {write(runs, f'{_machine()}, Python {platform.python_version()}')}")
    return int(any(one.errors or one.lost or one.double for one in runs))


if __name__ == "__main__":
    sys.exit(main())
