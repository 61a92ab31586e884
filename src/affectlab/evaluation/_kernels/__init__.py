"""Compiled inner loops of the evaluation room."""
