"""Socratis: why people feel what they feel about captioned images."""
