"""``affectlab train``: models that answer as raters do."""
