"""Wenjuanxing (问卷星, wjx.cn): answers by their texts or numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from affectlab.ratings.files import Columns, Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.surveys.sheets import PLATFORM, AnswerSheets, Asked, Sheet

_FIRST = ("序号", "提交答卷时间", "所用时间")
"""The first columns: number, time of submission, duration."""
_OF_PLATFORM = {*_FIRST[1:], "来源", "来源详情", "来自IP", "总分"}
_QUESTION = re.compile(r"\d+、(?P<question>.+?)(?:—+(?P<row>[^—]+))?", re.DOTALL)
"""A number, the question, and behind a dash the row of a matrix."""


@file_format("wenjuanxing", "Wenjuanxing (问卷星), answers (CSV or Excel: 序号, 提交答卷时间, …)")
class Wenjuanxing(AnswerSheets):
    """The answers to a questionnaire of Wenjuanxing.

    A column is called after the number and the words of its question and, behind a dash, the row
    of a matrix. Questions with the same rows are repeated about other stimuli; questions asked once
    describe the rater, who is called as the answer sheet. Times, sources, addresses and sums of
    points are not kept.

    Parameters
    ----------
    questions
        Questions that hold answers, in full; by default those of matrices, else all.
    rows
        What the rows of matrices are, ``"labels"`` or ``"stimuli"``; by default labels where they
        are called like emotions, or come back in several questions.
    rater
        Column that names the person.

    Notes
    -----
    Source: Wenjuanxing's help on downloading answers, and files that it wrote.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "wjx.csv"
    >>> _ = file.write_text("序号,提交答卷时间,所用时间,1、视频A—愉悦,1、视频A—恐惧\\n"
    ...                     "1,2026/5/4 10:22:00,124秒,5,1\\n", encoding="utf-8")
    >>> r = read_ratings(file, scale="1-7")
    >>> r.frame.select("stimulus", "rater", "label", "value").rows()
    [('视频A', '1', '愉悦', 5.0), ('视频A', '1', '恐惧', 1.0)]
    """

    layout = Layout({"rater": "序号"}, others=_FIRST[1:])
    choices = ("┋",)
    expected = f"no file of Wenjuanxing: expected the columns {', '.join(_FIRST)}"

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(_is_export(head.columns))

    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:  # noqa: ARG002
        if not _is_export(tuple(read.columns)):
            return None
        unused = {name: PLATFORM for name in read.columns if name.strip() in _OF_PLATFORM}
        asked: dict[str, Asked] = {}
        for name in read.columns:
            if match := _QUESTION.fullmatch(name.strip()):
                asked[name] = Asked(match["question"], match["row"], text=match["question"])
        return Sheet(read, asked, unused, rater=_FIRST[0])


def _is_export(header: Sequence[str]) -> bool:
    return {*_FIRST} <= {name.strip() for name in header}
