"""How results are shown: one way for a terminal, a page, a notebook, a file and a program."""
