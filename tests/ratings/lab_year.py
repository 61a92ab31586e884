"""Files as a lab has them after a year, and what becomes of each: read rightly, or one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from affectlab.ratings import StepKind

Sheets = Mapping[str, Sequence[Sequence[object]]]
Write = Callable[[Path], Path]


@dataclass(frozen=True)
class Messy:
    """A file, and what reading makes of it."""

    title: str
    """What it is, as the table of the manual says."""
    outcome: str
    """What happens, as that table says."""
    write: Write
    """Write the file into a folder, and give its path."""
    options: Mapping[str, Any] = field(default_factory=dict)
    refused: str | None = None
    """What the sentence says, where it is not read."""
    stimuli: tuple[str, ...] = ("a", "b")
    raters: tuple[str, ...] = ("x", "y")
    scales: Mapping[str, str] = field(default_factory=dict)
    """Scale of each label, without the mark that it was inferred; ``rating`` where there is one."""
    values: tuple[float, ...] = ()
    """Answers in the order of the table, on the scale."""
    said: tuple[str, ...] = ()
    """What warnings or what was set aside must say."""
    steps: tuple[StepKind, ...] = ()
    """Steps that the history must have."""


def text(name: str, content: str, encoding: str = "utf-8") -> Write:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content.encode(encoding))
        return folder / name

    return write


def folder(**files: str) -> Write:
    def write(place: Path) -> Path:
        for name, content in files.items():
            (place / f"{name}.csv").write_text(content)
        return place

    return write


def workbook(**sheets: Sequence[Sequence[object]]) -> Write:
    def write(place: Path) -> Path:
        xlsxwriter = pytest.importorskip("xlsxwriter")
        pytest.importorskip("python_calamine")
        book = xlsxwriter.Workbook(place / "answers.xlsx")
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
        book.close()
        return place / "answers.xlsx"

    return write


def program(name: str, columns: Mapping[str, Sequence[object]], **about: Any) -> Write:
    def write(place: Path) -> Path:
        pyreadstat = pytest.importorskip("pyreadstat")
        pandas = pytest.importorskip("pandas")
        save = pyreadstat.write_sav if name.endswith("sav") else pyreadstat.write_dta
        save(pandas.DataFrame(columns), str(place / name), **about)
        return place / name

    return write


HEAD = ("image", "rater", "rating")
ROWS = (("a", "x", 3), ("a", "y", 4), ("b", "x", 2), ("b", "y", 6))
LINES = "a,x,3\na,y,4\nb,x,2\nb,y,6\n"
PHASES = "".join(f"main,{line}\n" for line in LINES.splitlines())
PLAIN: dict[str, Any] = {"scales": {"rating": "ordinal 2 to 6, step 1"}, "values": (3, 4, 2, 6)}
KEYS = ("a,x", "a,y", "b,x", "b,y")


def column(*cells: str, name: str = "rating") -> Write:
    """Write a table of one value column."""
    body = "".join(f"{key},{cell}\n" for key, cell in zip(KEYS, cells, strict=True))
    return text("r.csv", f"image,rater,{name}\n{body}")


_ASKED = ("startDate", "progress", "_recordId", "1_QID2", "2_QID2", "condition")
QUALTRICS = (
    '"StartDate","Progress","ResponseId","1_Q2","2_Q2","condition"\n'
    '"Start Date","Progress","Response ID","a - How happy?","b - How happy?","condition"\n'
    + ",".join(f'"{{""ImportId"":""{name}""}}"' for name in _ASKED)
    + '\n"2025-01-01","100","x","3","2","dim"\n"2025-01-01","100","y","4","6","lit"\n'
)

YEAR = (
    Messy(
        "CSV of a German Excel: `;`, decimal commas, a byte order mark",
        "read; the history says where commas were decimal commas",
        text("r.csv", "Stimulus;Rater;Rating\na;x;3,5\na;y;4,0\nb;x;2\nb;y;6\n", "utf-8-sig"),
        scales={"rating": "interval 2 to 6"},
        values=(3.5, 4, 2, 6),
        steps=(StepKind.DECIMAL_COMMAS,),
    ),
    Messy(
        "a text file of Windows with umlauts and curly quotes",
        "read; a warning names the encoding, and how to name another",
        text("r.csv", "image,rater,rating\na,Jörg,1\nb,don’t know,2\n", "cp1252"),
        raters=("Jörg", "don’t know"),
        scales={"rating": "ordinal 1 to 2, step 1"},
        values=(1, 2),
        steps=(StepKind.ENCODING,),
    ),
    Messy(
        "remarks and a date above the header",
        "read; the history says what was left out",
        text("r.csv", f"# Pilot study,,\n\nexported 2025-03-04,,\nimage,rater,rating\n{LINES}"),
        **PLAIN,
        steps=(StepKind.ABOVE_HEADER,),
    ),
    Messy(
        "names and values of the export above the header",
        "read; the history says what was left out",
        text(
            "r.csv",
            f"study:;Faces 2\nexported;2025-03-04\n\n{';'.join(HEAD)}\n{LINES.replace(',', ';')}",
        ),
        **PLAIN,
        steps=(StepKind.ABOVE_HEADER,),
    ),
    Messy(
        "a workbook with a title above the header",
        "read; the history says what was left out",
        workbook(Data=[["Pilot study"], [], ["exported", "2025-03-04"], HEAD, *ROWS]),
        **PLAIN,
        steps=(StepKind.ABOVE_HEADER,),
    ),
    Messy(
        "a workbook with merged cells in the header",
        "one sentence: which column has no name",
        workbook(Data=[["image", "joy", "", "fear"], ["", "x", "y", "x"], ["a", 1, 2, 3]]),
        refused="sheet 'Data', row 1: column 3 has no name; expected one (of merged cells only",
    ),
    Messy(
        "a workbook whose first sheet is a codebook",
        "read: a larger sheet behind one of two columns holds the answers",
        workbook(Codes=[["What", "Why"], ["a", "a face"]], Answers=[HEAD, *ROWS]),
        **PLAIN,
    ),
    Messy(
        "a workbook with a sheet for each rater",
        "read, as a guess that is said: the name of a sheet is the rater",
        workbook(x=[["image", "rating"], ["a", 3], ["b", 2]], y=[["image", "rating"], ["a", 4]]),
        scales={"rating": "ordinal 2 to 4, step 1"},
        values=(3, 2, 4),
        steps=(StepKind.SHEETS_JOINED,),
    ),
    Messy(
        "a workbook of two waves, with columns in another order and case, and one more",
        "read, as a guess that is said where a sheet has one more",
        workbook(
            One=[HEAD, *ROWS],
            Two=[["Rater", "Image", "Rating", "note"], ["z", "a", 1, "hm"], ["z", "b", 7, ""]],
        ),
        raters=("x", "y", "z"),
        scales={"rating": "ordinal 1 to 7, step 1"},
        values=(3, 4, 2, 6, 1, 7),
        steps=(StepKind.SHEETS_JOINED,),
    ),
    Messy(
        "a workbook with answers on a further sheet under other names",
        "the first sheet is read; a warning names the other, and what to do",
        workbook(One=[HEAD, *ROWS], Two=[["face", "who", "felt"], ["a", "z", 1]]),
        **PLAIN,
        steps=(StepKind.SHEETS_LEFT,),
    ),
    Messy(
        "a workbook with a sheet for each emotion, and a column for each rater",
        "read, as a guess that is said: the name of a sheet is the label",
        workbook(
            joy=[["image", "R1", "R2"], ["a", 1, 2], ["b", 3, 4]],
            anger=[["image", "R1", "R2"], ["a", 5, 5], ["b", 7, 4]],
        ),
        raters=("R1", "R2"),
        scales=dict.fromkeys(("joy", "anger"), "ordinal 1 to 7, step 1"),
        values=(1, 3, 5, 7, 2, 4, 5, 4),
        steps=(StepKind.SHEETS_JOINED,),
    ),
    Messy(
        "a folder with a file for each participant",
        "read: the name of a file is the rater",
        folder(x="trial;stimulus;response\n1;a;3\n2;b;2\n", y="trial;stimulus;response\n1;a;4\n"),
        scales={"rating": "ordinal 2 to 4, step 1"},
        values=(3, 2, 4),
    ),
    Messy(
        "Qualtrics: three header rows, loop and merge, embedded data",
        "read; columns of the platform are no answers, embedded data describe the rater",
        text("q.csv", QUALTRICS),
        scales={"Q2": "ordinal 2 to 6, step 1"},
        values=(3, 4, 2, 6),
    ),
    Messy(
        "columns of raters, a gold column, and a row of means at the end",
        "read; the row is set aside, gold describes the stimulus",
        text("r.csv", "text,coder1,coder2,gold\na,3,2,3\nb,4,6,5\nMean,3.5,4.0,4\n"),
        raters=("coder1", "coder2"),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 4, 2, 6),
        said=("1 row: it sums up the rows above (line 4)",),
    ),
    Messy(
        "rows of sums and means at the end, in any language",
        "the rows are set aside, whose numbers are those of the rows above",
        text("r.csv", "image,R1,R2\na,3,4\nb,2,6\n合计,5,10\nPromedio,2.5,5.0\n"),
        raters=("R1", "R2"),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 2, 4, 6),
        said=("2 rows: it sums up the rows above (line 4, line 5)",),
    ),
    Messy(
        "one row per participant, columns called after pictures",
        "read, as a guess that is said",
        text("r.csv", "participant,age,a.jpg,b.jpg\nx,20,3,2\ny,31,4,6\n"),
        stimuli=("a.jpg", "b.jpg"),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 4, 2, 6),
        steps=(StepKind.SHAPE,),
    ),
    Messy(
        "one row per participant, columns of numbered clips, images, … (`clip01`)",
        "read, as a guess that is said",
        text("r.csv", "participant,condition,clip01,clip02\nx,music,3,N/A\ny,silence,4,6\n"),
        stimuli=("clip01", "clip02"),
        scales={"rating": "ordinal 3 to 6, step 1"},
        values=(3, 4, 6),
        steps=(StepKind.SHAPE,),
    ),
    Messy(
        "one row per participant, columns of stimuli and labels (`clip1_valence`)",
        "read, as a guess that is said",
        text(
            "r.csv", "participant,a_valence,a_arousal,b_valence,b_arousal\nx,3,1,2,5\ny,4,1,6,5\n"
        ),
        scales={"valence": "ordinal 1 to 6, step 1", "arousal": "ordinal 1 to 6, step 1"},
        values=(3, 4, 1, 1, 2, 6, 5, 5),
        steps=(StepKind.NAMES_CROSS,),
    ),
    Messy(
        "a column `item` that numbers trials beside one of images",
        "read, as a guess that is said: images are the stimuli",
        text(
            "r.csv",
            "participant,item,image,valence,arousal\nx,1,a,3,5\nx,2,b,2,6\ny,1,b,6,4\ny,2,a,4,7\n",
        ),
        scales=dict.fromkeys(("valence", "arousal"), "ordinal 2 to 7, step 1"),
        values=(3, 2, 6, 4, 5, 6, 4, 7),
        steps=(StepKind.NUMBERS_ARE_LABELS,),
    ),
    Messy(
        "a row for each question about a stimulus, in a column without a known name",
        "read, as a guess that is said: the column is the label",
        text(
            "r.csv",
            "participant,image,adjective,response\nx,a,kind,4\nx,a,happy,2\ny,b,kind,5\ny,b,happy,1\n",
        ),
        scales=dict.fromkeys(("kind", "happy"), "ordinal 1 to 5, step 1"),
        values=(4, 2, 5, 1),
        steps=(StepKind.LABEL_COLUMN,),
    ),
    Messy(
        "`id` numbers the rows of a database, and songs come back",
        "read, as a guess that is said: songs are the stimuli",
        text("r.csv", "id,user_id,song,rating\n1,x,a,3\n2,y,a,4\n3,x,b,2\n4,y,b,6\n"),
        **PLAIN,
        steps=(StepKind.ROWS_NUMBERED,),
    ),
    Messy(
        "`model` is the actor on the picture, beside a column of subjects",
        "read: subjects are the raters",
        text("r.csv", "subj,model,picture,rating\nx,Ann,a,3\ny,Ann,a,4\nx,Ben,b,2\ny,Ben,b,6\n"),
        **PLAIN,
    ),
    Messy(
        "times, accuracy, age and sex beside ratings, as E-Prime merges them",
        "read, as a guess that is said: numbers that each rater has one of describe raters",
        text(
            "r.txt",
            "Subject\tPicture\tAlter\tSession\tRate.RESP\tRate.RT\tRate.ACC\n"
            + "".join(
                f"{rater}\t{image}\t{age}\t1\t{answer}\t{800 + answer}\t0\n"
                for rater, age, answers in (("x", 21, (3, 2, 5)), ("y", 34, (4, 6, 1)))
                for image, answer in zip("abc", answers, strict=True)
            ),
        ),
        stimuli=("a", "b", "c"),
        scales={"Rate.RESP": "ordinal 1 to 6, step 1"},
        values=(3, 2, 5, 4, 6, 1),
        steps=(StepKind.NUMBERS_ARE_LABELS,),
    ),
    Messy(
        "codes of two coders beside the sentences and what was agreed",
        "read: sentences and what was agreed describe",
        text(
            "r.csv",
            "ID,utterance,coder_A,coder_B,agreed\na,I won,joy,joy,joy\nb,Go away,fear,anger,anger\n"
            "c,All of us,joy,anger,joy\n",
        ),
        options={"wide": "raters"},
        stimuli=("a", "b", "c"),
        raters=("coder_A", "coder_B"),
        scales={"rating": "nominal: joy, fear, anger"},
        values=(0, 1, 0, 0, 2, 2),
        steps=(StepKind.ATTRIBUTE_COLUMNS,),
    ),
    Messy(
        "practice told by a column of 0 and 1",
        "read; a warning says how many rows there are, and what to do",
        text(
            "r.csv",
            "image,rater,practice,rating\na,x,1,3\na,y,0,4\nb,x,0,2\nb,y,0,6\n",
        ),
        **PLAIN,
        steps=(StepKind.PRACTICE_COUNTS,),
    ),
    Messy(
        "two columns that are called like answers",
        "read; a warning says which was taken, and how to take the other",
        text("r.csv", "image,rater,rating,rating_2\na,x,3,1\na,y,4,1\nb,x,2,1\nb,y,6,1\n"),
        **PLAIN,
        steps=(StepKind.ANSWERS_DESCRIBED,),
    ),
    Messy(
        "boxes with an `x` in them or nothing",
        "read, where nothing is said to mean 0 (`--absent zero`)",
        text("r.csv", "image,rater,joy,fear\na,x,x,\na,y,x,x\nb,x,,x\nb,y,,x\n"),
        options={"wide": "labels", "scale": "binary", "absent": "zero"},
        scales=dict.fromkeys(("joy", "fear"), "binary, 0 or 1"),
        values=(1, 1, 0, 0, 0, 1, 1, 1),
        steps=(StepKind.TICKS,),
    ),
    Messy(
        "two waves, told by a column `time`",
        "read, as a guess that is said: waves are sessions",
        text(
            "r.csv",
            "rater,image,time,joy,fear\nx,a,T1,3,1\nx,a,T2,4,1\ny,b,T1,2,5\ny,b,T2,6,1\n",
        ),
        scales=dict.fromkeys(("joy", "fear"), "ordinal 1 to 6, step 1"),
        values=(3, 4, 2, 6, 1, 1, 5, 1),
        steps=(StepKind.OCCASION_COLUMN,),
    ),
    Messy(
        "several samples of a model for each stimulus",
        "read, as a guess that is said: samples are trials",
        text(
            "r.csv",
            "image,model,sample,prediction\na,x,0,joy\na,x,1,joy\nb,x,0,fear\nb,x,1,joy\n",
        ),
        raters=("x",),
        scales={"rating": "nominal: joy, fear"},
        values=(0, 0, 1, 0),
        steps=(StepKind.OCCASION_COLUMN,),
    ),
    Messy(
        "a probability for each class, in a row of its own",
        "read, as a guess that is said: classes are the labels",
        text(
            "r.csv",
            "image,model,class,probability\na,x,joy,0.7\na,x,fear,0.3\nb,x,joy,0.2\nb,x,fear,0.8\n",
        ),
        raters=("x",),
        scales=dict.fromkeys(("joy", "fear"), "interval 0.2 to 0.8"),
        values=(0.7, 0.3, 0.2, 0.8),
        steps=(StepKind.STRENGTHS,),
    ),
    Messy(
        "points on a grid, such as `(7,3)`",
        "one sentence: two numbers stand in a cell",
        column('"(7,3)"', '"(2,3)"', '"(6,4)"', '"(1,2)"'),
        refused="holds two numbers, such as '(7,3)'",
    ),
    Messy(
        "categories with numbers in one cell, such as `joy:5; fear:1`",
        "one sentence: what stands in a cell",
        column("joy:5; fear:1", "fear:2", "joy:2", "joy:5; fear:3"),
        refused="holds categories and a number of each, such as 'joy:5; fear:1'",
    ),
    Messy(
        "stretches of a film that are coded one after the other",
        "one sentence: stretches need names",
        text(
            "r.csv",
            "video,coder,onset,offset,emotion\na,x,0,2,joy\na,x,2,5,fear\na,y,0,3,joy\na,y,3,9,joy\n",
        ),
        refused="rows of a rater are about stretches of a stimulus ('onset', 'offset')",
    ),
    Messy(
        "norms: a mean, an SD and a number of raters for each word",
        "one sentence: answers of single raters are needed",
        text("r.csv", "Word,V.Mean.Sum,V.SD.Sum,V.Rat.Sum\na,3.1,1.2,20\nb,4.1,1.3,20\n"),
        refused="it seems to hold means and standard deviations",
    ),
    Messy(
        "SPSS: named values, values that are missing",
        "read: names of values give the scale, what the file calls missing is no answer",
        program(
            "r.sav",
            {"image": ["a", "a", "b"], "rater": ["x", "y", "x"], "joy": [1.0, 5.0, 99.0]},
            column_labels={"joy": "How joyful is the face?"},
            variable_value_labels={"joy": {1: "not at all", 7: "very", 99: "refused"}},
            missing_ranges={"joy": [99]},
        ),
        stimuli=("a",),
        scales={"joy": "ordinal 1 to 7, step 1"},
        values=(1, 5),
        steps=(StepKind.DECLARED_MISSING,),
    ),
    Messy(
        "SPSS: codes for no answer that have a name and are not declared as missing",
        "no answers, as a guess that is said",
        program(
            "r.sav",
            {"image": [*"aabb"], "rater": [*"xyxy"], "joy": [1.0, 5.0, -77.0, 2.0]},
            variable_value_labels={"joy": {1: "gar nicht", 5: "sehr", -77: "fehlend"}},
        ),
        scales={"rating": "ordinal 1 to 5, step 1"},
        values=(1, 5, 2),
        options={"columns": {"value": "joy"}},
        steps=(StepKind.GUESSED_MISSING,),
    ),
    Messy(
        "SPSS or Stata: numbers with names of emotions that are not called nominal",
        "categories, as a guess that is said; where names may be steps, a warning says what to do",
        program(
            "r.dta",
            {"image": [*"aabb"], "rater": [*"xyxy"], "emotion": [1.0, 2.0, 1.0, 3.0]},
            variable_value_labels={"emotion": {1: "Freude", 2: "Wut", 3: "Angst"}},
        ),
        scales={"rating": "nominal: Freude, Wut, Angst"},
        values=(0, 1, 0, 2),
        steps=(StepKind.GUESSED_CATEGORIES,),
    ),
    Messy(
        "Stata with a column for each rater",
        "read, as a guess that is said",
        program("r.dta", {"image": ["a", "b"], "R1": [3, 2], "R2": [4, 6]}),
        raters=("R1", "R2"),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 2, 4, 6),
        steps=(StepKind.SHAPE,),
    ),
    Messy(
        "`write.table` of R: spaces, quotes, row names",
        "read",
        text(
            "r.txt",
            '"image" "rater" "rating"\n"1" "a" "x" 3\n"2" "a" "y" 4\n'
            '"3" "b" "x" 2\n"4" "b" "y" 6\n',
        ),
        **PLAIN,
    ),
    Messy(
        "text with tabs that is called `.txt`",
        "read",
        text("r.txt", "image\trater\trating\n" + LINES.replace(",", "\t")),
        **PLAIN,
    ),
    Messy(
        "empty columns and rows at the end, as spreadsheets leave them",
        "read; what is empty is nothing",
        text("r.csv", "image,rater,rating,,\n" + LINES.replace("\n", ",,\n") + ",,,,\n,,,,\n"),
        **PLAIN,
    ),
    Messy(
        "`N/A`, -99 and 999 for no answer",
        "`N/A` is none; a warning names the others and what to say",
        text("r.csv", f"image,rater,rating\n{LINES}c,x,-99\nc,y,N/A\nd,x,999\nd,y,1\n"),
        stimuli=("a", "b", "c", "d"),
        scales={"rating": "interval -99 to 999, step 1"},
        values=(3, 4, 2, 6, -99, 999, 1),
        said=(
            "2 answers are -99 or 999 and all others lie between 1 and 6: if -99 or 999 stands for "
            "a missing answer, say so when reading (missing_codes=['-99', '999'])",
        ),
    ),
    Messy(
        "-99 and 999 for no answer, as `missing_codes=[-99, 999]` says",
        "read",
        text("r.csv", f"image,rater,rating\n{LINES}c,x,-99\nc,y,N/A\nb,z,999\n"),
        options={"missing_codes": [-99, 999]},
        **PLAIN,
        said=("3 rows: no answer",),
    ),
    Messy(
        "a slider from 0 to 100, or a scale from -3 to 3, with -77 or 999 for no answer",
        "a warning names these, and what to say",
        text("r.csv", "image,rater,rating\na,x,12\na,y,100\nb,x,0\nb,y,999\n"),
        scales={"rating": "interval 0 to 999, step 1"},
        values=(12, 100, 0, 999),
        said=("1 answer is 999 and all others lie between 0 and 100: if 999 stands for a missing",),
    ),
    Messy(
        "errors of formulas (`#DIV/0!`)",
        "no answers; they are counted",
        text("r.csv", f"image,rater,rating\n{LINES}b,z,#DIV/0!\n"),
        **PLAIN,
        said=("1 row: no answer (an empty cell or '#DIV/0!')",),
    ),
    Messy(
        "`Strongly agree`, `Agree`, …",
        "levels from low to high, as such words of eight languages are; a warning says so",
        column("Agree", "Strongly agree", "Disagree", "Agree"),
        scales={"rating": "ordinal: Disagree, Agree, Strongly agree"},
        values=(2, 3, 1, 2),
        steps=(StepKind.ORDERED_WORDS,),
    ),
    Messy(
        "numbers, with words at the ends: `1 - not at all`, `3`, `7 - very`",
        "read as numbers, which the history says",
        column("1 - not at all", "7 - very", "3", "2"),
        scales={"rating": "ordinal 1 to 7, step 1"},
        values=(1, 7, 3, 2),
        steps=(StepKind.READ_AS_NUMBERS,),
    ),
    Messy(
        "a label beside its reversed form",
        "two labels; nothing is turned round, a guess that is said",
        text("r.csv", "image,rater,joy,joy_r\na,x,1,7\na,y,2,6\nb,x,7,1\nb,y,3,5\n"),
        scales={"joy": "ordinal 1 to 7, step 1", "joy_r": "ordinal 1 to 7, step 1"},
        values=(1, 2, 7, 3, 7, 6, 1, 5),
    ),
    Messy(
        "two columns of the same name",
        "one sentence: which",
        text("r.csv", "image,rater,rating,rating\na,x,3,4\n"),
        refused="line 1: column 'rating' stands twice",
    ),
    Messy(
        "a category beside valence and arousal",
        "a label each, a guess that is said, where the numbers differ within stimuli",
        text(
            "r.csv",
            "image,rater,emotion,Valence,Arousal\na,x,joy,3,1\na,y,joy,2,7\nb,x,fear,-3,5\nb,y,joy,1,4\n",
        ),
        options={"scale": "Valence=-3..3, Arousal=1-7"},
        scales={
            "Valence": "ordinal -3 to 3, step 1",
            "Arousal": "ordinal 1 to 7, step 1",
            "emotion": "nominal: joy, fear",
        },
        values=(0, 0, 1, 0, 3, 2, -3, 1, 1, 7, 5, 4),
        steps=(StepKind.CATEGORY_AND_DIMENSIONS,),
    ),
    Messy(
        "a row for each emotion, and its intensity",
        "the intensities are the answers, the emotions labels, a guess that is said",
        text(
            "r.csv",
            "image,rater,emotion,intensity\na,x,joy,3\na,x,fear,0\na,y,joy,2\na,y,fear,1\n"
            "b,x,joy,0\nb,x,fear,4\nb,y,joy,1\nb,y,fear,5\n",
        ),
        scales={"joy": "ordinal 0 to 5, step 1", "fear": "ordinal 0 to 5, step 1"},
        values=(3, 0, 2, 1, 0, 4, 1, 5),
        steps=(StepKind.STRENGTHS,),
    ),
    Messy(
        "a category beside the confidence in it",
        "the category is read; a warning says how to read both",
        text(
            "r.csv", "image,rater,emotion,confidence\na,x,joy,3\na,y,joy,4\nb,x,fear,2\nb,y,joy,6\n"
        ),
        scales={"rating": "nominal: joy, fear"},
        values=(0, 0, 1, 0),
        steps=(StepKind.ONLY_ANSWERS,),
    ),
    Messy(
        "what a face was meant to show, beside what raters said",
        "it describes the stimulus, as a guess that is said",
        text(
            "r.csv",
            "image,emotion,rater,response\na,joy,x,joy\na,joy,y,fear\nb,fear,x,fear\n",
        ),
        scales={"rating": "nominal: joy, fear"},
        values=(0, 1, 1),
        steps=(StepKind.INTENDED,),
    ),
    Messy(
        "practice and main trials (`phase`)",
        "all count, and a warning says how to leave practice out",
        text("r.csv", f"phase,image,rater,rating\npractice,a,z,1\n{PHASES}"),
        raters=("z", "x", "y"),
        scales={"rating": "ordinal 1 to 6, step 1"},
        values=(1, 3, 4, 2, 6),
        steps=(StepKind.PRACTICE_COUNTS,),
    ),
    Messy(
        "practice and main trials, as `columns={'trial_kind': 'phase'}` says",
        "practice is of the kind `training`, which statistics leave out",
        text("r.csv", f"phase,image,rater,rating\npractice,a,z,1\n{PHASES}"),
        options={"columns": {"trial_kind": "phase"}},
        raters=("z", "x", "y"),
        scales={"rating": "ordinal 1 to 6, step 1"},
        values=(1, 3, 4, 2, 6),
    ),
    Messy(
        'row numbers of pandas, and a column of sums, as `wide="raters"`',
        "both are left out, which the history says",
        text("r.csv", "Unnamed: 0,image,Ann,Bo,Sum\n0,a,3,4,7\n1,b,2,6,8\n"),
        options={"wide": "raters"},
        raters=("Ann", "Bo"),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 2, 4, 6),
        steps=(StepKind.ROW_NUMBERS,),
    ),
    Messy(
        "JSON Lines with the answers in an object",
        "read: a column for each key",
        text(
            "r.jsonl",
            "\n".join(
                json.dumps({"id": s, "annotator": r, "answers": {"joy": 3 + k, "fear": 1}})
                for k, (s, r) in enumerate((s, r) for s in "ab" for r in "xy")
            ),
        ),
        scales={"joy": "ordinal 1 to 6, step 1", "fear": "ordinal 1 to 6, step 1"},
        values=(3, 4, 5, 6, 1, 1, 1, 1),
    ),
    Messy(
        "JSON Lines with a list of annotations for each text",
        "read: a row for each of a list",
        text(
            "r.jsonl",
            "\n".join(
                json.dumps({"id": s, "annotations": [{"by": r, "label": w} for r, w in given]})
                for s, given in (("a", [("x", "joy"), ("y", "joy")]), ("b", [("x", "fear")]))
            ),
        ),
        options={"columns": {"rater": "by"}},
        scales={"rating": "nominal: joy, fear"},
        values=(0, 0, 1),
    ),
    Messy(
        "JSON with an object for each stimulus, in which raters are keys",
        "read, as a guess that is said",
        text("r.json", json.dumps({"a": {"R1": 3, "R2": 4}, "b": {"R1": 2, "R2": 6}}, indent=1)),
        raters=("R1", "R2"),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 2, 4, 6),
        steps=(StepKind.KEYS_NAME,),
    ),
    Messy(
        "JSON with a list of answers for each stimulus",
        "read, as a guess that is said",
        text(
            "r.json",
            json.dumps(
                {
                    name: [{"rater": who, "rating": value} for who, value in given]
                    for name, given in (("a", (("x", 3), ("y", 4))), ("b", (("x", 2), ("y", 6))))
                }
            ),
        ),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 4, 2, 6),
        steps=(StepKind.KEYS_NAME,),
    ),
    Messy(
        "JSON with lists of images and annotations, joined by `image_id`",
        "read, as a guess that is said",
        text(
            "r.json",
            json.dumps(
                {
                    "images": [{"id": "a", "width": 80}, {"id": "b", "width": 90}],
                    "annotations": [
                        {"image_id": image, "annotator": who, "rating": value}
                        for image, who, value in (("a", "x", 3), ("b", "x", 2), ("b", "y", 6))
                    ],
                }
            ),
        ),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 2, 6),
        steps=(StepKind.ANSWERS_IN,),
    ),
    Messy(
        "annotators in a text with commas, and an answer of each by name",
        "read, as a guess that is said",
        text(
            "r.json",
            json.dumps(
                {
                    name: {"annotators": "x,y", "annotations": {"x": one, "y": other}}
                    for name, one, other in (("a", 3, 4), ("b", 2, 6))
                }
            ),
        ),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 4, 2, 6),
        steps=(StepKind.LISTS_BY_RATER,),
    ),
    Messy(
        "emoji, some of them with the mark for colour",
        "categories; the same emoji is one",
        column("😀", "❤️", "❤", "👍🏽"),
        scales={"rating": "nominal: 😀, ❤️, 👍🏽"},
        values=(0, 1, 1, 2),
        steps=(StepKind.ONE_SPELLING,),
    ),
    Messy(
        "several chosen answers in a cell: `joy; fear`",
        "yes or no to each",
        column("joy; fear", "joy", "fear", "joy", name="emotions"),
        scales={"joy": "binary, 0 or 1", "fear": "binary, 0 or 1"},
        values=(1, 1, 1, 0, 0, 1, 1, 0),
        steps=(StepKind.SEVERAL_CHOSEN,),
    ),
    Messy(
        "several chosen answers with `/` or `+` between them",
        "yes or no to each, as a guess that is said",
        column("joy/fear", "joy", "fear", "joy", name="emotions"),
        scales={"joy": "binary, 0 or 1", "fear": "binary, 0 or 1"},
        values=(1, 1, 1, 0, 0, 1, 1, 0),
        steps=(StepKind.SEVERAL_CHOSEN,),
    ),
    Messy(
        "yes and no in several languages",
        "yes or no",
        column("yes", "ja", "Nein", "no"),
        scales={"rating": "binary, 0 or 1"},
        values=(1, 1, 0, 0),
    ),
    Messy(
        "`45 %`, `100%`",
        "read as numbers, which the history says",
        column("45 %", "100%", '"12,5 %"', "0 %"),
        scales={"rating": "interval 0 to 100"},
        values=(45, 100, 12.5, 0),
        steps=(StepKind.READ_AS_NUMBERS,),
    ),
    Messy(
        "ranges beside numbers (`3-4`)",
        "one sentence: line and value",
        column("3", "3-4", "5", "2"),
        refused="line 3: value '3-4' is not understood; expected a number",
    ),
    Messy(
        "dates, as a spreadsheet makes of `3-4`",
        "one sentence: line and value",
        column("3", "4-May", "5", "2"),
        refused="line 3: value '4-May' is not understood; expected a number",
    ),
    Messy(
        "durations, fractions, dates alone (`00:12`, `3/7`, `2025-03-04`)",
        "one sentence: a number, or declared categories",
        column("00:12", "00:03", "01:10", "00:12"),
        refused="value '00:12' is not understood; expected a number, or declared categories",
    ),
    Messy(
        "a web page that is called `.xls`",
        "one sentence: what to do instead",
        text("answers.xls", "<html><table><tr><td>image</td></tr></table></html>"),
        refused="answers.xls is a web page; open it in a spreadsheet and save the table as CSV",
    ),
    Messy(
        "raters `001` and `1`, and names whose accents are encoded in two ways",
        "other raters; a warning asks whether they are one",
        text("r.csv", "image,rater,rating\na,001,3\na,1,4\nb,001,2\nb,1,6\n"),
        raters=("001", "1"),
        scales={"rating": "ordinal 2 to 6, step 1"},
        values=(3, 4, 2, 6),
        said=("The raters '001' and '1' differ in how a number is written only: are they one?",),
    ),
    Messy(
        "a second answer of the same rater",
        "one sentence: line, stimulus and rater",
        text("r.csv", f"image,rater,rating\n{LINES}a,x,5\n"),
        refused="line 6: a second answer for stimulus 'a', rater 'x'",
    ),
)
