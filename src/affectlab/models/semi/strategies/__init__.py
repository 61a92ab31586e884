"""The strategies that come with affectlab, one module each."""
