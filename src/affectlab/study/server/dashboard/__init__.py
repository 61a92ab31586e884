"""The dashboard of researchers: who may see what, and what they see and do."""

from affectlab.study.server.dashboard.live import Live
from affectlab.study.server.dashboard.pages import dashboard_routes

__all__ = [
    "Live",
    "dashboard_routes",
]
