"""Trials that are left out, because their pictures do not load, are counted for the researcher."""

from __future__ import annotations

from collections.abc import Callable

from affectlab.study import study_status
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.watch.overview import overview

Maker = Callable[..., Store]


def test_the_dashboard_counts_what_status_counts(make_study: Maker) -> None:
    store = make_study()
    service, token = Service(store), enter(store, Visitor())
    state = service.advance(token, "instructions", {})
    assert overview(store).progress.skipped == 0
    for n in (1, 2):
        state = service.skip(token, int(state["trial"]["id"]), "image failed")
        assert overview(store).progress.skipped == study_status(store).skipped == n
