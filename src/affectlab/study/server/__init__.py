"""The web server of a study."""

from affectlab.study.server._app import create_app
from affectlab.study.server._serve import Addresses, serve
from affectlab.study.server._settings import Settings

__all__ = ["Addresses", "Settings", "create_app", "serve"]
