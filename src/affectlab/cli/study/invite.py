"""``affectlab study invite``."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["invite"]


def invite(
    study: StudyArgument,
    people: Annotated[int, Option(help="How many personal links to make.")],
    to: Annotated[Path, Option("--out", "-o", help="CSV to write; it must be new.")] = Path(
        "links.csv"
    ),
    base_url: Annotated[
        str, Option(help="Where participants reach the server.", metavar="URL")
    ] = "http://127.0.0.1:8000",
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make personal links, each for one person; only the file holds them.

    Example: affectlab study invite my-study.toml --people 20 --base-url https://study.example.org
    """
    require_study_extra()
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.study import invite, load_study, open_store

    out = Output("study invite", as_json=as_json, quiet=quiet)
    if not to.parent.is_dir():
        raise InputError(f"{to}: the folder {to.parent} does not exist")
    loaded = load_study(study)
    try:
        # Links are secrets, and those of an earlier file cannot be made again.
        handle = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{to} is there already; expected a new name") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            with open_store(loaded, database) as store:
                made = invite(store, people, base_url)
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["rater", "link"])
            rows.writerows([one.rater, one.link] for one in made)
    except BaseException:
        to.unlink(missing_ok=True)
        raise
    out.show(f"written: {to}")
    out.show(
        f"{plural(len(made), 'personal link')}; send each to one person, and keep the file safe"
    )
    out.finish({"file": to, "n": len(made)})
