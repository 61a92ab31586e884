"""How much work a study is, before anyone is asked."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from affectlab._words import count, plural
from affectlab.study._bundles import bundles_of, cautions_about_bundles
from affectlab.study._cautions import alike, cautions, missing_checks
from affectlab.study._cautions_people import cautions_about_people
from affectlab.study._consent import begun_data, check_consent
from affectlab.study._design import Study
from affectlab.study._sequences import block_of
from affectlab.study._stimuli import nothing_to_ask, planned_faces, stimuli_of

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["Workload", "workload"]

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
        from affectlab._terminal import Table

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
