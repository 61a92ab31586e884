"""One change of the tables each, in the order of their numbers."""
