"""``affectlab doctor``: what is installed, and what the machine has."""
