"""Kinds of figures of analyses: labels, expressions, noticeable differences, reactions."""
