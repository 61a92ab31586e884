"""Small exports of survey tools and experiments, by the name of their format.

Each is written by hand from the documentation of the tool, unless said otherwise.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence


def table(*rows: Sequence[object], delimiter: str = ",") -> str:
    """Write rows as CSV, with quotes where they are needed."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", delimiter=delimiter).writerows(rows)
    return buffer.getvalue()


def qualtrics(columns: dict[str, tuple[str, str]], *rows: Sequence[object]) -> str:
    """Write an export of Qualtrics: names of columns with their words and identifiers."""
    texts, ids = zip(*columns.values(), strict=True)
    return table(list(columns), texts, [json.dumps({"ImportId": one}) for one in ids], *rows)


def trial(kind: str, number: int, **said: object) -> dict[str, object]:
    """Make a trial as jsPsych 8 stores it."""
    return {
        "rt": 500 + number,
        "trial_type": kind,
        "trial_index": number,
        "plugin_version": "2.1.0",
        "time_elapsed": 1000 * number,
        **said,
    }


PSYCHOPY = (
    "image,emotion,thisN,thisTrialN,thisRepN,slider.response,slider.rt,key_resp_2.keys,"
    "trials.thisRepN,trials.thisTrialN,trials.thisN,trials.thisIndex,thisRow.t,notes,"
    "welcome.started,key_resp.keys,key_resp.rt,trials.slider.response,trials.slider.rt,"
    "trials.key_resp_2.keys,participant,session,age,date,expName,psychopyVersion,\n"
    ",,,,,,,,-1,-1,-1,-1,,,0.1,space,1.2,,,,p1,001,31,2026-11-27,faces,2026.2.5,\n"
    "a.jpg,joy,0,0,0,2,0.5,space,0,0,0,0,,,,,,2,0.5,space,p1,001,31,2026-11-27,faces,"
    "2026.2.5,\n"
    "b.jpg,fear,1,1,0,3,0.7,space,0,1,1,1,,,,,,3,0.7,space,p1,001,31,2026-11-27,faces,"
    "2026.2.5,\n"
)
"""As `psychopy.data.ExperimentHandler` of PsychoPy 2026.2.5 writes two trials after a screen."""

SURVEYS = {
    "psychopy": PSYCHOPY,
    "gorilla": table(
        [
            "Event Index",
            "UTC Timestamp",
            "Participant Public ID",
            "Participant Private ID",
            "Task Name",
            "Trial Number",
            "Screen Name",
            "Zone Name",
            "Zone Type",
            "Reaction Time",
            "Response",
            "Attempt",
            "display",
            "image",
        ],
        [
            1,
            17e11,
            "PUB1",
            77,
            "faces",
            1,
            "hello",
            "Zone1",
            "continue_button",
            300,
            "Next",
            "",
            "instructions",
            "",
        ],
        [
            2,
            17e11,
            "PUB1",
            77,
            "faces",
            1,
            "face",
            "Zone2",
            "response_rating_scale_likert",
            812.5,
            4,
            "",
            "trial",
            "a.png",
        ],
        [
            3,
            17e11,
            "PUB1",
            77,
            "faces",
            2,
            "face",
            "Zone2",
            "response_rating_scale_likert",
            700,
            5,
            "",
            "trial",
            "b.png",
        ],
        ["END OF FILE", *[""] * 13],
    ),
    "jspsych": json.dumps(
        [
            trial("preload", 0, success=True, response=None),
            trial("image-slider-response", 1, stimulus="a.png", response=62, subject="p1"),
            trial("image-slider-response", 2, stimulus="b.png", response=10, subject="p1"),
        ]
    ),
    "google-forms": table(
        [
            "Timestamp",
            "Email Address",
            "How old are you?",
            "Face 1 [Joy]",
            "Face 1 [Fear]",
            "Face 2 [Joy]",
            "Face 2 [Fear]",
        ],
        ["2026/11/27 9:00:00 AM GMT+1", "a@b.c", 31, 5, 1, 2, 2],
        ["2026/11/27 9:05:00 AM GMT+1", "d@e.f", 40, 4, "", 1, 3],
    ),
    "limesurvey": table(
        [
            "id",
            "submitdate",
            "lastpage",
            "startlanguage",
            "seed",
            "age",
            "face1[SQ001]",
            "face1[SQ002]",
            "face2[SQ001]",
            "face2[SQ002]",
            "interviewtime",
            "face1Time",
        ],
        [4, "2026-11-27 09:00:00", 2, "en", 123, 31, "A5", "A1", "A2", "A2", 61.5, 20.1],
        [5, "", 1, "en", 124, 40, "A4", "", "", "", 12.5, 9.1],
    ),
    "redcap": table(
        [
            "record_id",
            "redcap_survey_identifier",
            "rating_timestamp",
            "age",
            "face1___joy",
            "face1___fear",
            "face2___joy",
            "face2___fear",
            "rating_complete",
        ],
        [1, "", "2026-11-27 09:00", 31, 1, 0, 0, 1, 2],
        [2, "", "2026-11-27 09:09", 40, 1, 1, 0, 0, 2],
    ),
    "microsoft-forms": table(
        ["ID", "Start time", "Completion time", "Email", "Name", "How old are you?", "A", "B"],
        [1, "11/27/26 9:00:00", "11/27/26 9:04:00", "anonymous", "", 31, "Joy;Awe", "Fear"],
        [2, "11/27/26 9:10:00", "11/27/26 9:14:00", "anonymous", "", 40, "Awe;Fear", "Joy"],
    ),
    "sosci": table(
        ["CASE", "QUESTNNR", "STARTED", "SD02", "B101_01", "B101_02", "B201_01", "B201_02"],
        [
            "Interview",
            "Fragebogen",
            "Beginn",
            "Alter",
            *(f"{shown}: {felt}" for shown in ("Hund", "Unfall") for felt in ("Freude", "Angst")),
        ],
        [120, "base", "2026-05-04 09:00", 31, 5, 2, 1, -9],
        [122, "base", "2026-05-04 09:11", 40, 4, 1, 2, 6],
    ),
    "wenjuanxing": table(
        [
            "序号",
            "提交答卷时间",
            "所用时间",
            "来自IP",
            "1、您的年龄",
            *(
                f"{n}、请评价视频{film}—{felt}"
                for n, film in ((2, "A"), (3, "B"))
                for felt in ("愉悦", "恐惧")
            ),
            "总分",
        ],
        [1, "2026/5/4 10:22:00", "124秒", "192.0.2.7", 26, 6, 2, 1, 5, 14],
        [2, "2026/5/4 11:22:00", "210秒", "192.0.2.8", 28, 7, 1, 2, 6, 16],
    ),
    "surveymonkey": table(
        ["Respondent ID", "Collector ID", "Start Date", "Face 1", "", "Face 2", "", "How old?"],
        ["", "", "", "Joy", "Fear", "Joy", "Fear", "Response"],
        [118, 4, "2026-11-27", 5, 1, 2, 2, 31],
        [119, 4, "2026-11-27", 4, "", 1, 3, 40],
    ),
    "qualtrics": qualtrics(
        {
            "ResponseId": ("Response ID", "_recordId"),
            "Status": ("Response Type", "status"),
            "Q1": ("How old are you?", "QID1_TEXT"),
            "1_Q3": ("a.jpg - How happy?", "1_QID3"),
            "2_Q3": ("b.jpg - How happy?", "2_QID3"),
            "2_Q9_Page Submit": ("Timing - Page Submit", "2_QID9_PAGE_SUBMIT"),
        },
        ["R_1", "IP Address", 31, 1, 7, 0.4],
        ["R_2", "Survey Preview", 1, 1, 1, 0.1],
        ["R_3", "IP Address", 40, "", 2, 0.4],
    ),
}


def cells(name: str) -> list[list[object]] | None:
    """Give a sample as the cells of a sheet, numbers as such; None where it is no CSV."""
    if SURVEYS[name].startswith(("[", "{")):
        return None

    def typed(cell: str) -> object:
        return float(cell) if cell.replace(".", "", 1).isdigit() and cell[0] != "0" else cell

    return [[typed(cell) for cell in row] for row in csv.reader(io.StringIO(SURVEYS[name]))]
