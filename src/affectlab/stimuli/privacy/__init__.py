"""Personal data in free texts: found on this computer, masked and counted."""

from affectlab.stimuli.privacy.scrub import KINDS, Scrubbed, scrub_ratings, scrub_texts

__all__ = ["KINDS", "Scrubbed", "scrub_ratings", "scrub_texts"]
