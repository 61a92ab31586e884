"""``affectlab rate``: let models answer. One module per verb."""
