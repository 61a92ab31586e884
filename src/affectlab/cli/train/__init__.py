"""``affectlab train``: models that answer as raters do. One module per verb."""
