"""``affectlab analyze``: what structure the answers have. One module per verb."""
