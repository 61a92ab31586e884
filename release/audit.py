"""``make audit``: what users install with affectlab, its licences, and its known weaknesses.

Three parts, each said in a line: the licences of everything that users install; a bill of it
(CycloneDX, JSON); and whether weaknesses of it are known. The first two need no network. Without
one, the last says that it was not done, and the audit fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import Distribution, version
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from release._libraries import Missing, users_install
from release._licences import licence_of, refused

__all__ = ["main"]

FOUND, NOT_DONE = 1, 2
"""Exit codes: something was found, or the audit could not be made."""
_ROOT = Path(__file__).resolve().parents[1]
_SECONDS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the audit; give the exit code: 0, 1 when something was found, 2 when it was not done."""
    parser = argparse.ArgumentParser(prog="python -m release.audit", description=__doc__)
    parser.add_argument(
        "--tools", type=Path, required=True, help="folder of cyclonedx-py, pip-audit"
    )
    parser.add_argument("--out", type=Path, default=Path("sbom.json"), help="the bill to write")
    given = parser.parse_args(arguments)
    try:
        libraries = users_install()
    except Missing as missing:
        print(f"audit: {missing}", file=sys.stderr)
        return NOT_DONE
    codes = [
        check_licences(libraries),
        write_bill(libraries, given.tools, given.out),
        find_weaknesses(libraries, given.tools),
    ]
    return max(codes)


def check_licences(libraries: Mapping[str, Distribution]) -> int:
    """Refuse what is under the GPL or the AGPL, or says nothing of its licence."""
    said = refused({name: licence_of(one) for name, one in libraries.items()})
    for sentence in said:
        print(f"licences: {sentence}", file=sys.stderr)
    if said:
        return FOUND
    print(f"licences: {len(libraries)} libraries, none under the GPL or the AGPL")
    return 0


def write_bill(libraries: Mapping[str, Distribution], tools: Path, out: Path) -> int:
    """Write what users install as a CycloneDX bill; tools of developers are left out of it."""
    done = subprocess.run(
        [
            *(str(tools / "cyclonedx-py"), "environment", sys.executable),
            *("--pyproject", str(_ROOT / "pyproject.toml"), "--mc-type", "library"),
            *("--output-reproducible", "--output-format", "JSON", "--output-file", "-"),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(f"bill: {_last(done.stderr)}", file=sys.stderr)
        return NOT_DONE
    bill = only(json.loads(done.stdout), set(libraries))
    listed = {canonicalize_name(one["name"]) for one in bill["components"]}
    if listed != set(libraries):
        lost = ", ".join(sorted(set(libraries) - listed))
        print(f"bill: cyclonedx-py did not list {lost}", file=sys.stderr)
        return NOT_DONE
    bill["metadata"]["component"]["version"] = version("affectlab")
    out.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    print(f"bill: {len(listed)} libraries, written to {out}")
    return 0


def only(bill: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Keep of a bill the libraries of these canonical names, and who needs whom among them."""
    kept = [one for one in bill["components"] if canonicalize_name(one["name"]) in names]
    root = bill["metadata"]["component"]["bom-ref"]
    refs = {one["bom-ref"] for one in kept} | {root}
    needs = [
        {**one, "dependsOn": [ref for ref in one.get("dependsOn", []) if ref in refs]}
        for one in bill["dependencies"]
        if one["ref"] in refs
    ]
    return {**bill, "components": kept, "dependencies": needs}


def find_weaknesses(libraries: Mapping[str, Distribution], tools: Path) -> int:
    """Ask OSV, which gathers the advisories of PyPA and others, about every version."""
    # A build of our own (2.13.0+cpu) is asked about as the release that it was built from.
    pins = {name: Version(one.version).public for name, one in libraries.items()}
    with tempfile.TemporaryDirectory() as folder:
        wanted, answer = Path(folder) / "requirements.txt", Path(folder) / "answer.json"
        wanted.write_text("".join(f"{name}=={pin}\n" for name, pin in pins.items()), "utf-8")
        done = subprocess.run(
            [
                *(str(tools / "pip-audit"), "--requirement", str(wanted), "--no-deps"),
                *("--disable-pip", "--vulnerability-service", "osv", "--timeout", str(_SECONDS)),
                *("--progress-spinner", "off", "--format", "json", "--output", str(answer)),
            ],
            check=False,
            capture_output=True,
            text=True,
        )
        # Its exit code is 1 both for what it found and for what it could not ask.
        if not answer.exists():
            print(
                "weaknesses: NOT CHECKED: api.osv.dev did not answer, and without a network "
                f"nothing can be said ({_last(done.stderr)})",
                file=sys.stderr,
            )
            return NOT_DONE
        return _judge(json.loads(answer.read_text("utf-8"))["dependencies"], pins)


def _judge(answers: Sequence[Mapping[str, Any]], pins: Mapping[str, str]) -> int:
    answered = {canonicalize_name(one["name"]) for one in answers if "vulns" in one}
    unanswered = sorted(set(pins) - answered)
    if unanswered:
        print(f"weaknesses: NOT CHECKED for {', '.join(unanswered)}", file=sys.stderr)
        return NOT_DONE
    known = [(one, weakness) for one in answers for weakness in one["vulns"]]
    for one, weakness in known:
        mended = ", ".join(weakness.get("fix_versions") or []) or "no version yet"
        print(
            f"weaknesses: {one['name']} {one['version']}: {weakness['id']}, mended in {mended}",
            file=sys.stderr,
        )
    if known:
        return FOUND
    print(f"weaknesses: none known of {len(pins)} libraries (OSV)")
    return 0


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else "it said nothing"
    return last if len(last) <= 200 else f"{last[:200]}…"


if __name__ == "__main__":
    sys.exit(main())
