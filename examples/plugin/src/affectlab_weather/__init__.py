"""Moods of the weather, as an example of what a package can add to affectlab.

Only paths stand here, so that a look at the taxonomy imports nothing else.
"""

from pathlib import Path

__all__ = ["PROTOCOL", "TAXONOMY"]

_HERE = Path(__file__).parent
TAXONOMY = _HERE / "taxonomy.toml"
PROTOCOL = _HERE / "protocol.toml"
