"""Personal data in free texts: found on this computer, masked and counted."""

from affectlab.stimuli.privacy._ratings import scrub_ratings
from affectlab.stimuli.privacy._scrub import KINDS, Scrubbed, scrub_texts

__all__ = ["KINDS", "Scrubbed", "scrub_ratings", "scrub_texts"]
