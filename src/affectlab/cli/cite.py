"""``affectlab cite``: BibTeX of affectlab, and of the works behind its statistics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affectlab import __version__
from affectlab.cli._output import Output, check_file
from affectlab.core.citations import bibtex, references, works_of


def cite(
    out: Output,
    statistics: Sequence[str] | None = None,
    *,
    everything: bool = False,
    to: Path | None = None,
) -> None:
    """Print BibTeX of affectlab, and of the works that statistics come from.

    Parameters
    ----------
    statistics
        Statistics, such as krippendorff_alpha or icc; affectlab alone where none is named.
    everything
        All works that affectlab refers to.
    to
        Write it to this file (.bib).
    """
    works = list(references().values()) if everything else works_of(list(statistics or []))
    text = bibtex(works, __version__)
    if to is None:
        for line in text.splitlines():
            out.show_line(line)
    else:
        check_file(to)
        to.write_text(text, encoding="utf-8")
        out.show(f"written to {to}")
    keys = ["affectlab", *(work.key for work in works if work.key != "affectlab")]
    out.finish({"keys": keys, "bibtex": text})
