"""Asking over a network and keeping every answer: HTTP and the ledger."""

from affectlab.models.ask.http import (
    Reply as Reply,
    fetch as fetch,
    is_path as is_path,
    seconds_to_wait as seconds_to_wait,
)
from affectlab.models.ask.ledger import (
    LineFile as LineFile,
    in_flight_sentence as in_flight_sentence,
)
from affectlab.models.ask.places import on_this_machine as on_this_machine
from affectlab.models.ask.wording import sent_away as sent_away
