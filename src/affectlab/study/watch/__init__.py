"""How a running study goes: progress, people, statistics, and who did what."""

from affectlab.study.watch.audit import audit as audit
from affectlab.study.watch.overview import (
    last_event as last_event,
    overview as overview,
    stimulus_coverage as stimulus_coverage,
)
from affectlab.study.watch.participants import (
    person as person,
    picture as picture,
    queue as queue,
    session_state as session_state,
)
