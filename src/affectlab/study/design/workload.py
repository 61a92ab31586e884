"""How much work a study is, before anyone is asked."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from affectlab.core.words import count, joined, plural
from affectlab.study.design.batches import bundles_of, cautions_about_bundles
from affectlab.study.design.consent import begun_data, check_consent
from affectlab.study.design.policy import live_policy
from affectlab.study.design.sequences import block_of
from affectlab.study.design.stimuli import nothing_to_ask, planned_faces, stimuli_of
from affectlab.study.design.stimulus import Stimulus
from affectlab.study.design.study_file import Study
from affectlab.study.tables import participants

if TYPE_CHECKING:
    from affectlab.core.render.grid import Table


__all__ = [
    "Workload",
    "alike",
    "cautions",
    "cautions_about_people",
    "missing_checks",
    "workload",
]

# What a researcher should know of a study's checks before it begins.


def cautions(study: Study) -> list[str]:
    """Say what will not work as the file seems to want it, in sentences."""
    protocol, design = study.protocol, study.design
    found = []
    block = block_of(protocol)
    if block > design.sessions.trials and design.sessions.batch is None:
        found.append(
            f"a sequence takes {block} comparisons, so a session has {block} trials, which is more "
            f"than sessions.trials = {design.sessions.trials}"
        )
    policy = live_policy(study)
    if design.policy and (policy is None or policy.name.startswith("checks of protocol ")):
        scale = protocol.scale
        found.append(
            f"policy {design.policy!r} judges nothing while the study runs: "
            + (
                f"its rules need numbers, and the scale is {scale}"
                if scale.kind in ("nominal", "text")
                else "it compares raters with each other; until the report, "
                + ("nothing is rejected" if policy is None else "the protocol's checks decide")
            )
        )
    if protocol.checks.min_movement and not protocol.input.log_movement:
        found.append("checks.min_movement needs input.log_movement, which is off")
    for key in ("golden", "repeat"):
        wanted = getattr(protocol.checks, "reject_golden" if key == "golden" else "reject_repeats")
        if wanted is not None and getattr(protocol.checks, f"{key}_tolerance") is None:
            found.append(
                f"checks.reject_{key}{'s' if key == 'repeat' else ''} needs "
                f"checks.{key}_tolerance, which is not set"
            )
    if protocol.checks.bonus is not None and not design.recruitment.bonus:
        found.append("the protocol promises a bonus; set recruitment.bonus, or other instructions")
    return found


def alike(stimuli: Iterable[Stimulus]) -> list[str]:
    """Say which stimuli compare two options that look the same."""
    same = [one.name for one in stimuli if one.options and len({x.shown for x in one.options}) < 2]
    if not same:
        return []
    shown = ", ".join(same[:3]) + (", …" if len(same) > 3 else "")
    return [f"{plural(len(same), 'stimulus', 'stimuli')} with two equal options: {shown}"]


def missing_checks(study: Study, stimuli: Iterable[Stimulus]) -> list[str]:
    """Say which checks have fewer stimuli than the protocol wants of them."""
    counts = Counter(one.kind for one in stimuli)
    checks = study.protocol.checks
    # Without a number of golden trials, its limits say how many it needs at least.
    golden = checks.reject_golden or 0 if checks.golden is None else checks.golden
    found = []
    for kind, wanted in (("training", checks.training), ("golden", golden)):
        if counts[kind] < wanted:
            key = "stimuli.training and stimuli.golden" if kind == "training" else "stimuli.golden"
            found.append(
                f"the protocol wants {wanted} {kind} trials, and there are {counts[kind]} {kind} "
                f"stimuli; name them in {key}"
            )
    return found


# What a researcher should know of who can take part and what they are told, before it begins.


_PLACEHOLDER = re.compile(r"\[[^\[\]\n]+\]")
_MOST = 3
"""Placeholders that are named."""


def cautions_about_people(study: Study, connection: Connection | None) -> list[str]:
    """Say what will not work for participants as the file seems to want it, in sentences.

    Parameters
    ----------
    connection
        To the data of the study; None when it was not begun yet.
    """
    return [*_texts(study), *_entry(study, connection), *_languages(study)]


def _texts(study: Study) -> list[str]:
    design, found = study.design, []
    consent = design.consent.text if design.consent is not None else ""
    texts = {"consent.text": consent, "study.contact": design.study.contact}
    for key, text in (
        texts | {"instructions": design.instructions, "thanks": design.thanks}
    ).items():
        left = list(dict.fromkeys(_PLACEHOLDER.findall(text)))
        if left:
            shown = ", ".join(left[:_MOST]) + (", …" if len(left) > _MOST else "")
            found.append(f"{key} has places to fill in: {shown}")
    if "example.org" in design.study.contact:
        found.append("study.contact is still that of the template; participants see it")
    return found


def _entry(study: Study, connection: Connection | None) -> list[str]:
    recruitment, found = study.design.recruitment, []
    rules = study.design.eligibility.model_dump(exclude_defaults=True)
    if rules and recruitment.platform == "none":
        found.append(
            f"no platform filters for eligibility ({', '.join(rules)}): what the address tells is "
            "the visitor's own word, and who tells nothing is let in"
        )
    if recruitment.platform == "prolific" and not recruitment.verify:
        found.append(
            "recruitment.verify is off: whoever writes a name into the address can take part under "
            "it; set verify = true to have Prolific asked at entry"
        )
    if not recruitment.open and recruitment.platform == "none" and not _invited(connection):
        found.append(
            "nobody can come in: recruitment.open is false, there is no platform, and no "
            "invitation; make personal links with: affectlab study invite "
            f"{study.path.name} --people N"
        )
    return found


def _invited(connection: Connection | None) -> bool:
    """Whether invitations were made, in the data of a study that was begun."""
    if connection is None:
        return False
    invited = select(participants.c.id).where(
        participants.c.invitation.is_not(None), participants.c.kind == "human"
    )
    return connection.execute(invited.limit(1)).first() is not None


def _languages(study: Study) -> list[str]:
    """Say what pages show in another language than their buttons."""
    chosen, languages = study.design.protocol, study.design.study.languages
    own = chosen.name.endswith(".toml") or bool({"prompt", "question"} & set(chosen.change))
    others = languages[1:] if own else tuple(one for one in languages if one != "en")
    if not others:
        return []
    protocol = study.protocol
    missing = {key for one in others for key in protocol.untranslated(one)}
    if study.design.instructions:
        missing.discard("instructions")
    stays = [
        *([f"the protocol's {joined(sorted(missing))}"] if missing else []),
        *(["the names of the labels"] if protocol.labels() else []),
        *(["the texts of this file"] if len(languages) > 1 else []),
    ]
    if not stays:
        return []
    advice = "; to avoid the mixture, make one study per language" if len(languages) > 1 else ""
    return [
        f"study.languages: pages come in {', '.join(others)}, and {joined(stays)} in the language "
        f"they are written in{advice}"
    ]


_SECONDS = {
    "radio": 1.5,
    "slider": 2.0,
    "checkbox": 0.4,
    "buttons": 2.0,
    "text": 45.0,
    "frame": 60.0,
}
"""Rough time that one label takes with each widget; a pilot tells better."""


_PAGES = frozenset(
    (
        ("image", "ratings"),
        ("image", "choices"),
        ("image pair", "value"),
        ("image and caption", "entries"),
        ("text", "choices"),
        ("two options", "value"),
        ("own page", "trials"),
    )
)
"""What is shown and how it is answered, where the pages were made for it."""
_LOOKING = {"text": 3.0, "image and caption": 5.0, "two options": 8.0}
"""Rough time that it takes to see or read a stimulus, where that is more than a glance."""


@dataclass(frozen=True)
class Workload:
    """What a study asks of people."""

    name: str
    protocol: str
    stimuli: int
    labels: int
    tasks: int
    answers: int
    """Valid answers wanted, as far as is known before anyone answers."""
    sessions: int
    """Sessions needed at least."""
    trials_per_session: int
    minutes_per_session: float
    """A rough guess."""
    pay: float | None
    bonuses: float
    """Most that bonuses can come to; 0 where there are none."""
    currency: str
    batches: int = 0
    """Batches that are kept whole; 0 where sessions are given so many trials."""
    batch_sizes: tuple[int, int] | None = None
    """Main trials of the smallest and of the largest batch."""
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Give the numbers by name."""
        found = asdict(self)
        del found["warnings"]
        return found

    @property
    def _trials(self) -> str:
        low, high = self.batch_sizes or (self.trials_per_session, self.trials_per_session)
        return f"{high}" if low == high else f"{low} to {high}"

    def __rich__(self) -> Table:
        from affectlab.core.render.grid import Table

        table = Table(box=None, show_header=False)
        rows = [
            ("study", self.name),
            ("protocol", self.protocol),
            ("stimuli", count(self.stimuli)),
            ("labels", count(self.labels)),
            ("tasks", count(self.tasks)),
            ("answers wanted", f"{count(self.answers)} or more"),
            *([("batches", f"{count(self.batches)}, each kept whole")] if self.batches else []),
            ("sessions", f"{count(self.sessions)} or more, of {self._trials} trials"),
            ("a session takes", f"about {max(1, round(self.minutes_per_session))} min (a guess)"),
        ]
        if self.pay is not None:
            rows.append(("payments", f"{self.pay:,.2f} {self.currency} or more, without fees"))
        if self.bonuses:
            rows.append(("bonuses", f"{self.bonuses:,.2f} {self.currency} at most"))
        for row in rows:
            table.add_row(*row)
        return table


def workload(study: Study, database: str | None = None) -> Workload:
    """Count what a study asks of people, and what a researcher should know before it begins.

    Parameters
    ----------
    study
        See :func:`load_study`.
    database
        Address of the database, where a study that was begun keeps its data; None: SQLite in the
        study's folder. It is only looked at.

    Raises
    ------
    InputError
        When a stimulus cannot be used, there is none to ask about, or the consent text is not the
        one that people have agreed to under its version.
    """
    protocol, design = study.protocol, study.design
    n_main, sizes, warnings = _stimuli(study)
    if not n_main:
        raise nothing_to_ask(study)
    labels = protocol.labels()
    one = protocol.asks.per_trial == "one"
    per_stimulus = 1
    if one:
        contrast = 1 + int(protocol.routing.contrastive)
        per_stimulus = len(labels) if design.stimuli.intended is None else contrast
    tasks = n_main * per_stimulus
    raters = protocol.routing.wanted([])
    answers = tasks * raters
    block = block_of(protocol)
    held = min(max(1, design.sessions.trials // block), tasks)
    sessions = max(math.ceil(answers / held), raters)
    batch_sizes = None
    if sizes:
        held = max(sizes) * per_stimulus
        sessions = len(sizes) * raters
        batch_sizes = (min(sizes) * per_stimulus * block, held * block)
    trials = held * block
    extra = protocol.checks.training + (protocol.checks.golden or 0) + protocol.checks.repeats
    warnings += cautions(study) + cautions_about_bundles(study, sizes)
    with begun_data(study, database) as data:
        if data is not None:
            check_consent(data, study)
        warnings += cautions_about_people(study, data)
    asked = 1 if one else max(1, len(labels))
    seconds = _LOOKING.get(protocol.stimulus, 2.0) + asked * _SECONDS[study.widget]
    if (protocol.stimulus, protocol.answer) not in _PAGES:
        warnings.append(
            f"protocol {protocol.name!r} asks for {protocol.answer} about {protocol.stimulus}, "
            "which none that the pages were made for does; look at them with affectlab study serve"
        )
    if design.consent is None:
        warnings.append("there is no consent text; most ethics committees want one")
    if not design.study.contact:
        warnings.append("there is no contact; participants cannot ask anyone")
    return Workload(
        name=design.study.name,
        protocol=protocol.name,
        stimuli=n_main,
        labels=len(labels),
        tasks=tasks,
        answers=answers,
        sessions=sessions,
        trials_per_session=trials,
        minutes_per_session=(trials + extra) * seconds / 60,
        pay=None if design.recruitment.pay is None else sessions * design.recruitment.pay,
        bonuses=_most_bonuses(study, answers),
        currency=design.recruitment.currency,
        batches=len(sizes),
        batch_sizes=batch_sizes,
        warnings=tuple(warnings),
    )


def _most_bonuses(study: Study, answers: int) -> float:
    each = study.design.recruitment.bonus
    given = study.protocol.checks.bonus is not None
    return answers * each if given and each else 0.0


def _stimuli(study: Study) -> tuple[int, list[int], list[str]]:
    """Count the main stimuli, and those of each batch; faces are counted without drawing them."""
    warnings: list[str] = []
    faces = study.design.stimuli.faces
    if faces is not None and study.protocol.stimulus == "image pair":
        # Pairs are drawn with those that check.
        return faces, [], []
    if faces is not None:
        found = planned_faces(study, faces)
        return sum(one.kind == "main" for one in found), [], missing_checks(study, found)
    found = stimuli_of(study)
    warnings += missing_checks(study, found) + alike(found)
    broken = [one.name for one in found if not all(_opens(file) for file in one.pictures)]
    if broken:
        shown = ", ".join(broken[:3]) + (", …" if len(broken) > 3 else "")
        warnings.append(f"{plural(len(broken), 'picture')} cannot be opened: {shown}")
    sizes = [len(own) for own in bundles_of(study, found).values()]
    return sum(one.kind == "main" for one in found), sizes, warnings


def _opens(file: Any) -> bool:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file) as image:
            image.verify()
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError):
        return False
    return True
