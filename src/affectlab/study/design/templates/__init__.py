"""Studies that are written from a template: the general one, of errors, and pilots."""
