"""Personal data in free texts: found on this computer, masked and counted."""

from affectlab.stimuli.privacy.scrub import scrub_ratings, scrub_texts

__all__ = ["scrub_ratings", "scrub_texts"]
