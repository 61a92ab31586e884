"""Serving a page of a study's own into a frame that can reach nothing else.

The frame is sandboxed: its scripts run in an origin of their own, without the cookie, the storage
and the page around it. So its files cannot be asked for with a cookie, either; their address holds
a keyed digest, which changes with the files, and lists exactly the files of the study's folder.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import replace
from html import escape
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse

from affectlab.study.design import FRAMES, TYPES, frame_files
from affectlab.study.errors import not_found
from affectlab.study.server.settings import Settings
from affectlab.study.store import Store

__all__ = ["FRAME_HEADERS", "frame_routes", "with_room"]

FRAME_HEADERS = (
    (
        b"content-security-policy",
        # Also sandboxed when it is opened by itself. Forms are allowed for their events, and go
        # nowhere; styles may stand in elements, as those of jsPsych's plugins do; scripts may not.
        b"sandbox allow-scripts allow-forms; default-src 'none'; script-src 'self'; "
        b"style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        b"media-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"referrer-policy", b"no-referrer"),
    # The sandboxed frame is another origin to browsers, which is why it may ask for these files.
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"access-control-allow-origin", b"*"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), interest-cohort=()"),
)
"""Headers of everything below ``/frame/``, instead of those of the other pages."""

_BRIDGE = Path(__file__).parent.parent / "pages" / "frame" / "affectlab.js"
_AROUND_KB = 8
"""Room for what a request carries beside the recorded trials."""
_CACHE = {"Cache-Control": "private, max-age=86400, immutable"}


def frame_routes(store: Store) -> APIRouter:
    """Make the routes under which a study's own page and its files are served; none without one."""
    routes = APIRouter()
    frame = store.study.design.frame
    if frame is None:
        return routes
    files = frame_files(store.study)
    digest = store.frame_address.strip("/").rpartition("/")[2]
    page = _page(store)

    def known(given: str) -> None:
        if not hmac.compare_digest(given.encode(), digest.encode()):
            raise not_found("There is no such page.")

    @routes.get(FRAMES + "{given}/", include_in_schema=False)
    def document(given: str) -> HTMLResponse:
        """Give the document that loads the scripts."""
        known(given)
        return HTMLResponse(page, headers=_CACHE)

    @routes.get(FRAMES + "{given}/affectlab.js", include_in_schema=False)
    def bridge(given: str) -> FileResponse:
        """Give the script that speaks with the page around the frame."""
        known(given)
        return FileResponse(_BRIDGE, media_type="text/javascript", headers=_CACHE)

    @routes.get(FRAMES + "{given}/files/{name:path}", include_in_schema=False)
    def file(given: str, name: str) -> FileResponse:
        """Give one of the study's own files: those that were listed, by exactly their names."""
        known(given)
        path = files.get(name)
        if path is None:
            raise not_found("There is no such file.")
        return FileResponse(path, media_type=TYPES[path.suffix.lower()], headers=_CACHE)

    return routes


def with_room(settings: Settings, store: Store) -> Settings:
    """Let a request carry what a run of a study's own page may record."""
    frame = store.study.design.frame
    if frame is None:
        return settings
    needed = (frame.largest_kb + _AROUND_KB) * 1024
    return replace(settings, largest_body=max(settings.largest_body, needed))


def _page(store: Store) -> str:
    frame = store.study.design.frame
    assert frame is not None
    links = "".join(
        f'<link rel="stylesheet" href="files/{escape(quote(name))}">\n' for name in frame.styles
    )
    scripts = escape(json.dumps([f"files/{quote(name)}" for name in frame.scripts]))
    return (
        '<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(store.study.design.study.title)}</title>\n{links}"
        f'<script src="affectlab.js" data-scripts="{scripts}" defer></script>\n'
        "</head>\n<body></body>\n</html>\n"
    )
