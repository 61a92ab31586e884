"""``affectlab evaluate``: do machines agree with people? One module per verb."""
