"""The web server of a study."""

from affectlab.study.server.app import create_app
from affectlab.study.server.serve import Addresses, serve
from affectlab.study.server.settings import Settings

__all__ = ["Addresses", "Settings", "create_app", "serve"]
