"""The web server of a study."""

from affectlab.study.server._app import create_app
from affectlab.study.server._serve import serve
from affectlab.study.server._settings import Settings

__all__ = ["Settings", "create_app", "serve"]
