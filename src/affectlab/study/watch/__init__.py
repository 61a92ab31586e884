"""How a running study goes: progress, people, statistics, and who did what."""

from affectlab.study.watch.audit import audit
from affectlab.study.watch.overview import last_event, overview, stimulus_coverage
from affectlab.study.watch.participants import person, picture, queue, session_state

__all__ = [
    "audit",
    "last_event",
    "overview",
    "person",
    "picture",
    "queue",
    "session_state",
    "stimulus_coverage",
]
