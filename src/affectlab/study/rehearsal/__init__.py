"""Rehearsing a study with simulated participants, before anyone is asked."""
