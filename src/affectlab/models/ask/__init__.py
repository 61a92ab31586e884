"""Asking over a network and keeping every answer: HTTP and the ledger."""

from affectlab.models.ask.http import Reply, fetch, is_path, seconds_to_wait
from affectlab.models.ask.ledger import LineFile, in_flight_sentence

__all__ = [
    "LineFile",
    "Reply",
    "fetch",
    "in_flight_sentence",
    "is_path",
    "seconds_to_wait",
]
