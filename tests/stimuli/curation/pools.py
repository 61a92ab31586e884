"""Narrow tables to take steps on, and the steps written plainly, one comment after the other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from affectlab.core.remote.runner import use_runner
from affectlab.stimuli.curation.emotions import SENTIMENTS, prediction_columns
from affectlab.stimuli.curation.hashing import id_keys
from affectlab.stimuli.curation.ledger import Entry
from affectlab.stimuli.curation.plan import CurationPlan
from affectlab.stimuli.curation.pool.parts import PLACE_BITS, part_name
from affectlab.stimuli.curation.pool.pool import Pool
from affectlab.stimuli.curation.run import DROPPED, KEPT, take_step
from affectlab.stimuli.curation.steps.step import Step
from affectlab.taxonomy import load_taxonomy


@dataclass(frozen=True)
class Comment:
    """One comment, as the first pass sees it."""

    id: str
    group: str = "g"
    tokens: int = 10
    emotions: tuple[str, ...] = ()
    deleted: bool = False
    english: bool = True
    offensive: bool = False
    vulgar: bool = False
    identity: bool = False


@dataclass
class Taken:
    """What became of comments after some steps."""

    entries: list[Entry] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    dropped: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Step and reason, by the row of the comment in the input."""
    pool: Pool | None = None


def pool_of(comments: Sequence[Comment], folder: Path, n_parts: int = 1) -> Pool:
    """Write comments as a pool of narrow tables."""
    use_runner()
    place = folder / "start"
    place.mkdir(parents=True)
    size = max(1, -(-len(comments) // n_parts))
    parts = [comments[at : at + size] for at in range(0, len(comments), size)] or [[]]
    for number, part in enumerate(parts):
        table = pl.DataFrame(
            {
                "place": [(number << PLACE_BITS) + row for row in range(len(part))],
                "key": id_keys(pl.Series([one.id for one in part], dtype=pl.String)),
                "group": [one.group for one in part],
                **{
                    name: [getattr(one, name) for one in part]
                    for name in ("deleted", "english", "offensive", "vulgar", "identity")
                },
                "tokens": pl.Series([one.tokens for one in part], dtype=pl.UInt16),
            }
        )
        labels = pl.Series([list(one.emotions) for one in part], dtype=pl.List(pl.String))
        table.hstack(prediction_columns(labels, "goemotions")).write_parquet(
            place / part_name(number)
        )
    return Pool(place, len(comments), [Path(part_name(k)) for k in range(len(parts))], folder / "s")


def take(comments: Sequence[Comment], steps: Iterable[Step], folder: Path, parts: int = 1) -> Taken:
    """Take steps, as a run does, and read what became of each comment."""
    pool = pool_of(comments, folder, parts)
    size = max(1, -(-len(comments) // parts))
    taken = Taken(pool=pool)
    for number, step in enumerate(steps):
        if not pool.n:
            break
        place = folder / f"{number}"
        place.mkdir()
        entry = take_step(step, pool, place)
        taken.entries.append(entry)
        for file in sorted((place / DROPPED).glob("*.parquet")):
            for at, reason in pl.read_parquet(file).iter_rows():
                row = (at >> PLACE_BITS) * size + (at & ((1 << PLACE_BITS) - 1))
                taken.dropped[row] = (step.name, reason)
        pool = replace(pool, folder=place / KEPT, n=entry.kept, _counts={})
    taken.kept = [one.id for row, one in enumerate(comments) if row not in taken.dropped]
    taken.pool = pool
    return taken


def plain_draw(name: str, seed: int, of: str) -> int:
    """The random number of a comment, as the documentation defines it, in whole numbers."""

    def fnv(data: bytes) -> int:
        value = 14695981039346656037
        for byte in data:
            value = (value ^ byte) * 1099511628211 % 2**64
        return value

    z = ((fnv(of.encode()) ^ fnv(f"{name} {seed}".encode())) + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return (z ^ z >> 31) >> 1


def plain_run(comments: Sequence[Comment], plan: CurationPlan) -> dict[int, tuple[str, str]]:
    """The thirteen steps, one after the other: step and reason of each comment that goes."""
    fate: dict[int, tuple[str, str]] = {}
    alive = list(range(len(comments)))
    polarity = load_taxonomy(plan.taxonomy).polarity

    def drop(step: str, reason: Callable[[int], str]) -> None:
        nonlocal alive
        told = {row: reason(row) for row in alive}
        fate.update({row: (step, why) for row, why in told.items() if why})
        alive = [row for row in alive if not told[row]]

    def inside(name: str, values: Container[object], reason: str) -> Callable[[int], str]:
        return lambda row: reason if getattr(comments[row], name) in values else ""

    def sizes(kind: Callable[[Comment], object]) -> Counter[object]:
        return Counter(kind(comments[row]) for row in alive)

    def cap(step: str, kind: Callable[[Comment], object], most: int) -> None:
        kinds = defaultdict(list)
        for row in alive:
            kinds[kind(comments[row])].append(row)
        kept = set()
        for rows in kinds.values():
            drawn = sorted((plain_draw(step, plan.seed, comments[row].id), row) for row in rows)
            kept |= {row for _, row in drawn[:most]}
        drop(step, lambda row: "" if row in kept else "over_cap")

    seen: set[str] = set()
    for step in plan.steps:
        if step == "repeated":

            def repeated(row: int) -> str:
                again = comments[row].id in seen
                seen.add(comments[row].id)
                return "repeated" if again else ""

            drop(step, repeated)
        elif step == "big_groups":
            n = sizes(lambda one: one.group)
            least = plan.big_groups.least
            small = {group for group in n if n[group] < least}
            drop(step, inside("group", {""}, "no_group"))
            drop(step, inside("group", small, "small_group"))
        elif step in ("deleted", "offensive"):
            drop(step, inside(step, {True}, step))
        elif step == "language":
            drop(step, lambda row: "" if comments[row].english else "other_language")
        elif step == "adult_groups":
            n = sizes(lambda one: one.group)
            bad = Counter(
                comments[row].group
                for row in alive
                if comments[row].offensive or comments[row].vulgar
            )
            adult = {group for group in n if bad[group] / n[group] >= plan.adult_groups.share}
            drop(step, inside("group", adult, "profane_group"))
        elif step == "identity":
            drop(step, lambda row: "for_review" if comments[row].identity else "")
        elif step == "length":

            def length(row: int) -> str:
                if comments[row].tokens < plan.length.least:
                    return "too_short"
                return "too_long" if comments[row].tokens > plan.length.most else ""

            drop(step, length)
        elif step == "length_balance" and alive:
            ordered = sorted(comments[row].tokens for row in alive)
            middle = ordered[(len(ordered) - 1) // 2]
            cap(step, lambda one: one.tokens, ordered.count(middle))
        elif step == "sentiment":
            drop(step, plain_sentiment(comments, alive, plan, polarity))
        elif step == "emotion_balance" and alive:
            n = sizes(lambda one: one.emotions[0] if one.emotions else "")
            named = sorted(size for label, size in n.items() if label) or sorted(n.values())
            middle = named[(len(named) - 1) // 2]
            cap(step, lambda one: one.emotions[0] if one.emotions else "", middle)
        elif step == "group_balance" and alive:
            all_sizes = sorted(sizes(lambda one: one.group).values())
            cap(step, lambda one: one.group, all_sizes[(len(all_sizes) - 1) // 2])
        elif step == "sample" and plan.sample.size is not None:
            drawn = sorted((plain_draw(step, plan.seed, comments[row].id), row) for row in alive)
            kept = [comments[row] for _, row in drawn[: plan.sample.size]]
            drop(
                step,
                inside(
                    "id",
                    {comments[row].id for row in alive} - {one.id for one in kept},
                    "not_drawn",
                ),
            )
    return fate


def plain_sentiment(
    comments: Sequence[Comment],
    alive: Sequence[int],
    plan: CurationPlan,
    polarity: dict[str, str | None],
) -> Callable[[int], str]:
    """Why each group goes for its sentiments."""
    rows = defaultdict(list)
    for row in alive:
        rows[comments[row].group].append({polarity[label] for label in comments[row].emotions})
    why = {}
    for group, found in rows.items():
        share = {name: sum(name in one for one in found) / len(found) for name in SENTIMENTS}
        limits = plan.sentiment
        why[group] = (
            "neutral"
            if share["neutral"] > limits.neutral_most
            else "few_positive"
            if share["positive"] < limits.positive_least
            else "few_negative"
            if share["negative"] < limits.negative_least
            else "few_ambiguous"
            if share["ambiguous"] < limits.ambiguous_least
            else ""
        )
    return lambda row: why[comments[row].group]


def comments(path: Path, n: int = 60, **columns: Sequence[object]) -> Path:
    """Write plain comments of two groups to a file."""
    table = {
        "id": [f"c{k}" for k in range(n)],
        "body": [f"We walked {k} miles along the quiet river today." for k in range(n)],
        "subreddit": ["walks" if k % 3 else "rivers" for k in range(n)],
        **columns,
    }
    pl.DataFrame(table).write_csv(path)
    return path


def loose(**given: object) -> CurationPlan:
    """Make a plan that lets small corpora through."""
    shares = {"neutral_most": 1, "positive_least": 0, "negative_least": 0, "ambiguous_least": 0}
    return CurationPlan.model_validate(
        {"big_groups": {"least": 1}, "sentiment": shares, "texts": {"language": "none"}, **given}
    )
