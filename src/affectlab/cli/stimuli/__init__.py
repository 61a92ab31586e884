"""``affectlab stimuli``: what is shown to raters."""
