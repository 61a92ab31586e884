"""What is left out where an optional library is not installed."""

from __future__ import annotations

from importlib.util import find_spec

# Modules that cannot be imported without their extra have examples, which pytest would collect.
_NEEDS = {
    "torch": ["src/affectlab/models/metrics.py", "tests/models"],
    "sqlalchemy": ["tests/study"],
}

collect_ignore = [
    path for library, paths in _NEEDS.items() if not find_spec(library) for path in paths
]
