"""``affectlab taxonomy``: which emotions there are, and how a taxonomy is made."""
