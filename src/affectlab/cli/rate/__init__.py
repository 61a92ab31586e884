"""``affectlab rate``: let models answer."""
