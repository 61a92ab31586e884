"""What users may build on, written down, so that none of it changes unnoticed.

The lists are in ``listed/``: a file for each public module, one for the commands, one for the keys
of files, one for the names of entry points and built-in files, one for what registries hold.
``make api`` (``python -m tests.public_api``) writes them anew. Modules are read, not imported: but
for registries, the lists do not depend on what is installed, nor on the version of Python.
"""
