"""Study files to start from: written by hand for some protocols, made of the protocol otherwise."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.protocols import Protocol, load_protocol
from affectlab.study.design.sequences import block_of

__all__ = ["study_name", "template_text", "write_template"]

_FOLDER = Path(__file__).parent
_NAME = "STUDY-NAME"
_BESIDE = re.compile(rf'"{_NAME}-([^"]+)"')
"""A file or folder that a study file names beside itself."""

_STIMULI = {
    "image": """# Drawn faces, to try things out. Yours: folder = "faces/", or table = "faces.csv".
faces = 24""",
    "image pair": """# Drawn pairs, to try things out. Yours: table = "pairs.csv" with the columns
# stimulus, file_a and file_b.
faces = 24""",
    "image and caption": f"""# Columns: stimulus, file (in the folder) and text, the caption.
table = "{_NAME}-captions.csv"
folder = "{_NAME}-pictures\"""",
    "text": f"""# Columns: stimulus and text.
table = "{_NAME}-texts.csv\"""",
    "two options": f"""# Columns: stimulus, file and text (what both are about), and for each
# option option_a (a text), option_a_file (a picture) or labels_a (labels between semicolons), and
# system_a: whose it is.
table = "{_NAME}-pairs.csv"
folder = "{_NAME}-pictures\"""",
    "own page": f"""# Each row is one run of the script, which finds it as affectlab.stimulus.
table = "{_NAME}-words.csv"
[frame]
folder = "{_NAME}-timeline"
# In the order in which they run.
scripts = ["timeline.js"]
styles = ["timeline.css"]
# Columns of the table that the script may see; the others stay with you.
columns = ["kind"]""",
}
"""Example stimuli, by what a protocol shows."""
_SEQUENCES = """# Drawn transitions, to try things out. Yours: folder = "transitions/" with a folder
# of frames for each, from the peak to rest; or table = "frames.csv" with stimulus, frame, file.
faces = 3"""
_TASKS = {
    "image": "look at pictures and answer a question about each",
    "image pair": "look at pairs of pictures and answer a question about each",
    "image and caption": "look at pictures with captions and answer a question about each",
    "text": "read short texts and answer a question about each",
    "two options": "see two options, again and again, and answer a question about them",
    "own page": "follow the steps of a task, again and again",
}
"""What people do, by what a protocol shows."""
_CONSENT = """\
Taking part is voluntary. You can stop at any time, and withdraw your answers on the last page, \
without giving a reason; answers that you withdraw are not used.

We store your answers, when you came and how long you took, what your browser reports when the \
page is left or a picture does not load. Where a recruiting platform sends you, we store its \
names for you and for this visit, so that you are paid. We do not ask for your name.

[Who is responsible for this study and for your data, with an address.] The data serve [purpose \
of the study]. They are kept until [when], and published [where, in what form, or not at all], \
without the platform's names. You have the right to [rights under your law, such as to see your \
data, have them corrected or erased]; write to [whom]."""
_MOST_TRIALS = 12
_TITLE = 120


def write_template(path: str | Path, protocol: str | Path = "intensity") -> tuple[Path, ...]:
    """Write a study file that works as it is, and what it needs beside it.

    Parameters
    ----------
    path
        File to write, which must not exist. Its name becomes the name of the study.
    protocol
        Name of a protocol, such as ``multilabel``; see
        :func:`affectlab.protocols.list_protocols`. Or the path of the TOML file of one.

    Returns
    -------
    The files written, the study file first.

    Raises
    ------
    InputError
        When a file is there already, or the protocol is not known or cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.study import load_study
    >>> path, = write_template(Path(tempfile.mkdtemp()) / "My study.toml")
    >>> load_study(path).design.study.name
    'my-study'
    """
    path = Path(path)
    if path.suffix != ".toml":
        raise InputError(f"{path}: expected a name that ends in .toml")
    source = _source(protocol, path)
    name = study_name(path)
    files = {path: _named(source, path).encode()}
    for beside in dict.fromkeys(_BESIDE.findall(source)):
        files |= {
            path.parent / f"{name}-{file.relative_to(_FOLDER).as_posix()}": file.read_bytes()
            for file in _files(_FOLDER / beside)
        }
    for file in files:
        if file.exists():
            raise InputError(f"{file} is there already; expected a new name")
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return tuple(files)


def study_name(path: Path) -> str:
    """Name a study by its file.

    Examples
    --------
    >>> study_name(Path("My study.toml"))
    'my-study'
    """
    return re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_") or "study"


def template_text(protocol: str | Path, path: Path) -> str:
    """Give the study file that a protocol starts from, under the name of a file."""
    return _named(_source(protocol, path), path)


def _named(source: str, path: Path) -> str:
    return source.replace(_NAME, study_name(path)).replace("STUDY-FILE", path.name)


def _source(protocol: str | Path, path: Path) -> str:
    """Give the text that was written for a built-in protocol, or one that is made of any other."""
    loaded = load_protocol(protocol)
    named = str(protocol)
    if isinstance(protocol, Path) or named.endswith(".toml"):
        # A name with a suffix is a file, looked for from the folder of the study file.
        named = Path(os.path.relpath(Path(protocol).absolute(), path.absolute().parent)).as_posix()
    else:
        # A name of ours always means ours, in any spelling that `load_protocol` takes.
        plain = named.strip().casefold().replace("-", "_").replace(" ", "_")
        by_hand = _FOLDER / f"{plain}.toml"
        if by_hand.is_file():
            return by_hand.read_text(encoding="utf-8")
    return _made_of(loaded, named)


def _made_of(protocol: Protocol, named: str) -> str:
    """Write the text of a study file from a protocol."""
    sequences = protocol.staircase is not None
    title = " ".join((protocol.title or protocol.question).split())
    if len(title) > _TITLE:
        title = f"{title[: _TITLE - 1]}…"
    asked = f"# A study: {title}"
    bonus = "\n[recruitment]\n# For each answer that the protocol rewards.\nbonus = 0.05\n"
    return f"""{asked if len(asked) <= 100 else f"{asked[:99]}…"}
# Look at it:  affectlab study serve STUDY-FILE Try it out:  affectlab study simulate STUDY-FILE

[study]
name = "{_NAME}"
title = {_quoted(title)}
contact = "Your Name, your.name@example.org"

[protocol]
name = {_quoted(named)}
# Single keys of the protocol can be altered, such as: change = {{ question = "…" }}

[stimuli]
{_SEQUENCES if sequences else _STIMULI[protocol.stimulus]}

[sessions]
trials = {block_of(protocol) if sequences else _MOST_TRIALS}
# Other than the protocol says: raters = {protocol.routing.raters}
{bonus if protocol.checks.bonus else ""}
# Fill in what stands in [brackets]; `affectlab study check` says what is left, and about how long a
# session takes. on_withdrawal = "keep" keeps the answers of those who withdraw; say so in the text.
[consent]
text = \"""
In this study you {_TASKS[protocol.stimulus]}. It takes [how many] minutes.

{_CONSENT}
\"""
on_withdrawal = "drop"
"""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _files(place: Path) -> Iterator[Path]:
    """Give an example file, or those of an example folder."""
    if place.is_dir():
        yield from sorted(place.iterdir())
    else:
        yield place
