"""The dashboard of researchers: who may see what, and what they see and do."""

from affectlab.study.server.dashboard.live import Live as Live
from affectlab.study.server.dashboard.pages import dashboard_routes as dashboard_routes
