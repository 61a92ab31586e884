"""What pytest leaves out, and what it skips where an optional library is not installed."""

pytest_plugins = ["tests.optional_libraries"]

# Alembic runs this file itself, in a context of its own.
collect_ignore = ["src/affectlab/study/migrations/env.py"]
