"""Compiled inner loops of this room; import them inside the function that needs them."""
