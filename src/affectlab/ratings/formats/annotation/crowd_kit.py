"""crowd-kit: tables of what workers answered to tasks."""

from __future__ import annotations

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Format, Layout, Sure, file_format


@file_format("crowd-kit", "answers of workers as crowd-kit has them (table: task, worker, label)")
class CrowdKit(Format):
    """A table with the columns ``task``, ``worker`` and ``label``, and no others.

    What crowd-kit calls the label is the answer: a class, or a number. Its tables of pairs
    (``worker``, ``left``, ``right``, ``label``) are the format ``pairs``.

    Notes
    -----
    Source: the documentation of crowd-kit, ``crowdkit.aggregation``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "crowd.csv"
    >>> _ = file.write_text("task,worker,label\\nt1,w1,joy\\nt1,w2,fear\\n")
    >>> r = read_ratings(file)
    >>> r.rater_names, r.scale.categories
    (('w1', 'w2'), ('joy', 'fear'))
    """

    layout = Layout({"stimulus": "task", "rater": "worker", "value": "label"})

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(sorted(head.columns) == sorted(self.layout.needed))
