"""``affectlab study``: from one file to a web study and its data."""
