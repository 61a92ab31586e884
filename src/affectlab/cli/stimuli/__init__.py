"""``affectlab stimuli``: what is shown to raters. One module per verb."""
