"""Files of strangers: look-alikes of public files, what is right, and what happens today.

Each entry of :data:`STRANGERS` has the columns, the shape, the separators and the encoding of files
that people publish or that tools write; its names and answers are made up. ``right`` is what every
reading of it must give; where nothing in the file can decide, ``asks`` says what, and it has to be
refused with a command that reads it. Those that are not so yet stand in :data:`TODAY`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.ratings.datasets.survey_samples import qualtrics, table as as_csv, trial
from tests.ratings.lab_year import Write, text, workbook
from tests.ratings.layouts import (
    ANSWERS,
    Answer,
    Answers,
    Cell,
    Row,
    Value,
    as_text,
    chosen,
    count,
    table,
    world,
    written,
)

from affectlab.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class Stranger:
    """A file, and what reading must make of it."""

    name: str
    like: str
    """What it looks like."""
    kind: str
    """Which of the mechanisms it needs."""
    write: Write
    """Write the file into a folder, and give its path."""
    right: tuple[Answer, ...] = ()
    """The answers, in words where a scale has categories; none: the file holds no answers."""
    scales: Mapping[str, str] = field(default_factory=dict)
    """Scale of a label, where it is not plain from the answers; '' of all."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Kinds of raters who are no people."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names of stimuli, raters and labels that are as good."""
    anonymous: bool = False
    """Whether nothing in the file names raters as they are meant, so that any names do."""
    n_raters: int = 0
    """How many raters there must be, whatever their names; 0: that is open."""
    apart: str = ""
    """The column of answers that tells those of a rater to one question apart."""
    never: tuple[str, ...] = ()
    """Columns that must describe nobody and nothing."""
    said: str = ""
    """What the refusal of a file without answers must say."""
    asks: str = ""
    """What nothing in the file decides."""
    case: bool = False
    """Whether it is one of the cases from which the work began."""


YES_NO: Sequence[Value] = (0, 1)
SEVEN: Sequence[Value] = range(1, 8)
NINE: Sequence[Value] = range(1, 10)
FIVE: Sequence[Value] = range(1, 6)
EKMAN = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
DIMENSIONS = ("valence", "arousal")


def names(template: str, n: int, start: int = 1) -> tuple[str, ...]:
    """Number names: ``names("p{:02d}", 2)`` are ``p01`` and ``p02``."""
    return tuple(template.format(k) for k in range(start, start + n))


def csv(
    answers: Sequence[Answer],
    rows: str,
    columns: Mapping[str, Cell],
    *,
    name: str = "ratings.csv",
    separator: str = ",",
    encoding: str = "utf-8",
    quoted: bool = False,
    end: str = "\n",
    below: str = "",
    mixed: bool = False,
) -> Write:
    """Write answers as a text table of a layout; `mixed`: with rows in any order."""
    header, *body = table(answers, rows, columns)
    if mixed:
        random.Random(len(body)).shuffle(body)
    content = as_text([header, *body], separator, quoted=quoted, end=end)
    return text(name, content + below, encoding)


def as_json(name: str, value: Any, *, lines: bool = False) -> Write:
    """Write JSON, or a line of it for each entry."""
    if lines:
        return text(name, "".join(json.dumps(one) + "\n" for one in value))
    return text(name, json.dumps(value, indent=4))


def of(answers: Sequence[Answer], **about: str) -> list[Answer]:
    """Give the answers about a stimulus, of a rater, or to a label."""
    return [one for one in answers if all(getattr(one, k) == name for k, name in about.items())]


def each(answers: Sequence[Answer], role: str) -> list[str]:
    """List stimuli, raters or labels."""
    return list(dict.fromkeys(getattr(one, role) for one in answers))


def ticked(one: Answer) -> bool:
    """Whether a label was chosen."""
    return one.value == 1.0


def dotted(number: float) -> str:
    """Write a number with a decimal comma."""
    return f"{number:.1f}".replace(".", ",")


def sets(
    raters: Sequence[str], stimuli: Sequence[str], labels: Sequence[str], seed: str
) -> tuple[Answer, ...]:
    """Let everybody choose one or two of some labels."""
    singles = world(raters, stimuli, ("",), range(len(labels)), seed=seed)
    more = world(raters, stimuli, ("",), (0, 0, 1, 2), seed=f"{seed} more")
    found = []
    for first, second in zip(singles, more, strict=True):
        places = {int(first.value), (int(first.value) + int(second.value)) % len(labels)}
        found += [
            Answer(first.stimulus, first.rater, label, float(k in places))
            for k, label in enumerate(labels)
        ]
    return tuple(sorted(found, key=lambda one: labels.index(one.label)))


def comparisons(tuples: Sequence[tuple[str, tuple[str, ...], int, int]]) -> tuple[Answer, ...]:
    """Give what a choice of the best and the worst of some says of pairs."""
    found = []
    for judge, items, best, worst in tuples:
        pairs = [(items[best], one) for one in items if one != items[best]]
        pairs += [(one, items[worst]) for one in items if one not in (items[best], items[worst])]
        for winner, loser in pairs:
            first, second = sorted((winner, loser))
            value = "A" if winner == first else "B"
            found.append(Answer(f"{first} | {second}", judge, "", value))
    return tuple(found)


def _number(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell


def _mean(answers: Sequence[Answer], stimulus: str) -> float:
    given = [float(one.value) for one in of(answers, stimulus=stimulus)]
    return sum(given) / len(given)


def _most(answers: Sequence[Answer], stimulus: str) -> str:
    given = [str(one.value) for one in of(answers, stimulus=stimulus)]
    return max(given, key=given.count)


def _share(answers: Sequence[Answer], stimulus: str) -> float:
    given = [str(one.value) for one in of(answers, stimulus=stimulus)]
    return given.count(_most(answers, stimulus)) / len(given)


def _na(answers: Sequence[Answer], label: str) -> str:
    """Write the answer to a label, and NA where it was not asked."""
    found = of(answers, label=label)
    return written(found[0].value) if found else "NA"


PEOPLE = names("p{:02d}", 5)
FACES = names("face{:02d}.jpg", 6)
CLIPS = names("clip{}", 5)
AGES = (23, 41, 35, 58, 19, 67, 30)
SEXES = ("f", "m", "f", "f", "m", "m", "f")


def age(row: Row) -> int:
    """Give a rater an age."""
    return AGES[row.r_n - 1]


def sex(row: Row) -> str:
    """Give a rater a sex."""
    return SEXES[row.r_n - 1]


# Long tables under the names of other fields and languages.

_words = world(
    ("DF566D85", "7FD550FC", "96CB1B21", "5F42BCE5"),
    ("refuge", "quarrel", "exempt", "upsetting", "preserve"),
    ("VALENCE", "AROUSAL", "EXPRESSED_MORAL"),
    NINE,
    gaps=3,
)
_faces = world(names("{}", 4, 4007), names("{:03d}", 6), levels=SEVEN, gaps=3)
_tears = world(names("{}", 4), names("T{}a", 5), ("Valence_pos", "Arousal", "Sadness"), SEVEN)
_dutch = world(
    names("{}", 5), ("zon", "graf", "feest", "regen", "taart", "spin"), levels=SEVEN, gaps=3
)
_german = world(names("{}", 5), names("Bild {:02d}", 5), ("Valenz", "Erregung"), NINE)
_polish = world(names("u{}", 4), names("img/{}.png", 6), levels=SEVEN, gaps=3)
_spanish = world(names("S{}", 4), names("foto{}", 5), ("alegría", "miedo"), FIVE)
_french = world(names("J{}", 4), names("visage_{}", 5), ("joie", "peur", "colère"), FIVE)
_chinese = world(names("被试{}", 4), names("图片{}", 5), ("愉悦度", "唤醒度"), NINE)
_arabic = world(names("{}", 4, 9101), ("فرح", "حزن", "خوف", "غضب"), ("valence", "arousal"), NINE)
_melodies = world(names("{}", 4), names("mel{}", 4), ("familiarity", "valence"), SEVEN)
_fractals = world(names("{}", 4, 31), names("SHINEd_0{}.jpg", 4), ("beauty", "interest"), SEVEN)
_wines = world(names("W{}", 5), names("Sample {}", 4), ("How intense is it?", "Pleasantness"), NINE)
_films = world(names("{}", 5), ("Amelie", "Jaws", "Up", "Alien", "Heat", "Brazil"), levels=SEVEN)
_blocks = world(names("s{}", 4), names("F{:02d}_AN", 6), levels=FIVE)
_texts = world(names("{}", 4, 201), names("{}", 5), ("happy", "sad", "anger", "neutral"), YES_NO)
_headlines = world(names("A1{}X", 4), names("{}", 5, 500), levels=(-50, -20, 0, 10, 35, 80), gaps=3)
_voices = world(names("{}", 4, 1), names("10{:02d}_IEO_HAP_LO", 6), levels=tuple("ADFHNS"))
_emoji = world(names("sub-{}", 4), ("😀", "😢", "😡", "🤢"), ("familiarity", "valence"), SEVEN)
_tracked = world(names("R{}", 4), names("pic{}.png", 6), levels=SEVEN)
_session = world(names("k{}", 3), names("v{}.mp4", 3), ("tense", "happy"), SEVEN)
_progress = world(PEOPLE, FACES, ("joy", "fear", "trust"), SEVEN)
_refused = world(names("v{}", 4), names("b{}", 6), levels=FIVE)
_half = world(names("{}", 5, 11), FACES, levels=NINE)
_coded = world(PEOPLE, names("{}", 6, 71), DIMENSIONS, NINE, gaps=4)
_unnamed = world(names("A{}", 5), names("B{}", 6), levels=NINE)
_eprime = world(names("{}", 4, 1), names("IAPS{}.bmp", 5, 2010), DIMENSIONS, NINE)
_toloka = world(names("tol{}", 4), names("/a/{}.jpg", 5), levels=("joy", "anger", "calm"), gaps=3)
_conditions = world(names("{}", 4), names("{}", 4), ("Anger", "Happy", "Tension", "Valence"), SEVEN)
_emobank = world(names("x{}", 3), names("text_{}_9", 5, 4), ("V", "A", "D"), FIVE)

_windows = world(("Jörg", "Änne", "x"), names("i{}", 6), levels=SEVEN)
_question = world(names("s{}", 4), ("F01", "F02", "F03"), ("angry", "sad"), FIVE)
_urls = world(names("W{}", 4), names("https://example.org/{}.jpg", 5), levels=("joy", "anger"))
_none = world(names("ann{}", 4), names("t{}", 6), levels=("joy", "anger", "none"))
_units = world(names("{}", 4, 12), names("V{}", 5), ("Valence", "Arousal"), NINE, gaps=5)

LONG = (
    Stranger(
        name="windows_known_names",
        like="names that are known, umlauts among the raters, a Windows encoding",
        kind="encoding",
        write=csv(
            _windows,
            "rs",
            {"rater": "{r}", "image": "{s}", "rating": ANSWERS},
            separator=";",
            encoding="cp1252",
        ),
        right=_windows,
    ),
    Stranger(
        name="item_is_the_question",
        like="item holds what was asked, and face what was shown",
        kind="shapes",
        write=csv(
            _question,
            "rsl",
            {"subject": "{r}", "item": "{l}", "face": "{s}", "response": ANSWERS},
        ),
        right=_question,
    ),
    Stranger(
        name="numbered_rows_and_addresses",
        like="id numbers the rows, workers, the address of a picture, a category",
        kind="names",
        write=csv(
            _urls, "rs", {"id": "{n}", "worker": "{r}", "image_url": "{s}", "label": ANSWERS}
        ),
        right=_urls,
    ),
    Stranger(
        name="none_is_a_category",
        like="a crowd's choice of an emotion, of which `none` is one",
        kind="missing answers",
        write=csv(
            _none, "sr", {"text_id": "{s}", "annotator": "{r}", "emotion": ANSWERS}, mixed=True
        ),
        right=_none,
    ),
    Stranger(
        name="units_in_names",
        like="Subject ID, Video Name, Valence Score (1-9), Arousal Score (1-9)",
        kind="names",
        write=csv(
            _units, "rs", {"Subject ID": "{r}", "Video Name": "{s}", "{l} Score (1-9)": ANSWERS}
        ),
        right=_units,
        also={"Valence Score (1-9)": "Valence", "Arousal Score (1-9)": "Arousal"},
    ),
    Stranger(
        name="words_by_annotator",
        like="annotations of moral words, tab-separated, names in capitals",
        kind="names",
        write=csv(
            _words,
            "sr",
            {"WORD": "{s}", "ANNOTATOR_ID": "{r}", "{l}": ANSWERS},
            name="RAW_ANNOTATIONS_CARE.txt",
            separator="\t",
        ),
        right=_words,
    ),
    Stranger(
        name="faces_with_ages_of_both",
        like="attractiveness of faces: rater_id and face_id, sex and age of both",
        kind="names",
        write=csv(
            _faces,
            "rs",
            {
                "rater_id": "{r}",
                "rater_sex": sex,
                "rater_age": age,
                "face_id": "{s}",
                "face_sex": lambda row: "mf"[row.s_n % 2],
                "face_age": lambda row: 20 + 3 * row.s_n,
                "rating": ANSWERS,
            },
            mixed=True,
        ),
        right=_faces,
    ),
    Stranger(
        name="observers_of_videos",
        like="observer ratings of tears: ID is the rater, Video_ID the stimulus, semicolons",
        kind="names",
        write=csv(
            _tears,
            "rs",
            {
                "ID": "{r}",
                "Video_ID": "{s}",
                "Phase": lambda row: "AB"[row.s_n % 2],
                "{l}": ANSWERS,
            },
            separator=";",
        ),
        right=_tears,
    ),
    Stranger(
        name="dutch_words",
        like="speeded ratings of Dutch words: Ppn and Woord",
        kind="languages",
        write=csv(_dutch, "rs", {"Ppn": "{r}", "Woord": "{s}", "Valentie": ANSWERS}, separator=";"),
        right=_dutch,
    ),
    Stranger(
        name="german_windows",
        like="a lab of German speakers: VPN, Bild, Valenz; Windows encoding, decimal commas",
        kind="encoding",
        write=csv(
            _german,
            "rs",
            {
                "VPN": "{r}",
                "Geschlecht": lambda row: ("weiblich", "männlich")[row.r_n % 2],
                "Bild": "{s}",
                "{l}": Answers(lambda given: dotted(float(given[0].value))),
            },
            separator=";",
            encoding="cp1252",
        ),
        right=_german,
    ),
    Stranger(
        name="polish_photos",
        like="a web study of photographs in Polish: uczestnik_id, sciezka_zdjecia, ocena",
        kind="languages",
        write=csv(
            _polish,
            "rs",
            {
                "uczestnik_id": "{r}",
                "sciezka_zdjecia": "{s}",
                "ocena": ANSWERS,
                "wiek": age,
                "plec": sex,
            },
        ),
        right=_polish,
    ),
    Stranger(
        name="spanish_ages",
        like="sujeto, foto, edad, and a column for each emotion",
        kind="languages",
        write=csv(_spanish, "rs", {"sujeto": "{r}", "edad": age, "foto": "{s}", "{l}": ANSWERS}),
        right=_spanish,
    ),
    Stranger(
        name="french_latin",
        like="juge, visage, and a column for each emotion, Latin-1, semicolons",
        kind="encoding",
        write=csv(
            _french,
            "rs",
            {"juge": "{r}", "visage": "{s}", "{l}": ANSWERS},
            separator=";",
            encoding="latin-1",
        ),
        right=_french,
    ),
    Stranger(
        name="chinese_pictures",
        like="norms of pictures collected in Chinese, a byte order mark",
        kind="languages",
        write=csv(
            _chinese,
            "rs",
            {"被试编号": "{r}", "性别": sex, "图片": "{s}", "{l}": ANSWERS},
            encoding="utf-8-sig",
        ),
        right=_chinese,
    ),
    Stranger(
        name="arabic_words",
        like="ratings of Arabic words from an experiment builder, cleaned: long names in R style",
        kind="names",
        write=csv(
            _arabic,
            "rls",
            {
                "participant_private_id": "{r}",
                "task_name": "{l}",
                "current_display": "main",
                "wordlist_ar_word": "{s}",
                "wordlist_number_of_letters": "3",
                "reaction_time": lambda row: 700 + 31 * row.n,
                "response": ANSWERS,
            },
        ),
        right=_arabic,
    ),
    Stranger(
        name="melodies_with_conditions",
        like="known melodies: bars between columns, sub_num, and condition is what was asked",
        kind="names",
        write=csv(
            _melodies,
            "rls",
            {
                "sub_num": "{r}",
                "condition": "{l}",
                "stimulus": "{s}",
                "response": ANSWERS,
                "rt": lambda row: 900 + 17 * row.n,
            },
            separator="|",
        ),
        right=_melodies,
    ),
    Stranger(
        name="id_is_the_rater",
        like="ratings of fractals: id is the person, fractal the picture, feature the question",
        kind="names",
        write=csv(
            _fractals,
            "rsl",
            {"id": "{r}", "fractal": "{s}", "feature": "{l}", "ratingValue": ANSWERS},
        ),
        right=_fractals,
    ),
    Stranger(
        name="wine_by_subject_code",
        like="aromas of wine: Subject.Code, Sample.Name, questions as names of columns, bars",
        kind="names",
        write=csv(
            _wines,
            "rs",
            {"Subject.Code": "{r}", "Sample.Name": "{s}", "{l}": ANSWERS},
            separator="|",
        ),
        right=_wines,
    ),
    Stranger(
        name="subj_movie_strength",
        like="a data frame written by R: row names, subj, movie, felt_strength",
        kind="names",
        write=csv(
            _films,
            "rs",
            {"X": "{n}", "subj": "{r}", "movie": "{s}", "felt_strength": ANSWERS},
            quoted=True,
        ),
        right=_films,
    ),
    Stranger(
        name="short_names_of_a_lab",
        like="a lab's own program: sub, blk, trl, stim, resp, acc, rt",
        kind="names",
        write=csv(
            _blocks,
            "rs",
            {
                "sub": "{r}",
                "blk": lambda row: row.s_n % 2,
                "trl": "{s_n}",
                "stim": "{s}",
                "resp": ANSWERS,
                "acc": lambda row: row.n % 2,
                "rt": lambda row: 500 + 13 * row.n,
            },
        ),
        right=_blocks,
    ),
    Stranger(
        name="ticks_by_annotator",
        like="texts with a 0 or 1 for each emotion and annotator: text_id, text_content",
        kind="names",
        write=csv(
            _texts,
            "sr",
            {
                "text_id": "{s}",
                "text_content": lambda row: f"what was written on day {row.s_n}",
                "annotator_id": "{r}",
                "{l}": ANSWERS,
            },
        ),
        right=_texts,
    ),
    Stranger(
        name="headlines_of_a_crowd",
        like="headlines rated by workers: names with a mark in front, a column of what is right",
        kind="names",
        write=csv(
            _headlines,
            "sr",
            {
                "!amt_annotation_ids": lambda row: f"HIT{row.n}",
                "!amt_worker_ids": "{r}",
                "orig_id": "{s}",
                "response": ANSWERS,
                "gold": lambda row: 7 * row.s_n,
            },
            mixed=True,
            name="anger.standardized.tsv",
            separator="\t",
        ),
        right=_headlines,
    ),
    Stranger(
        name="voices_with_levels",
        like="answers to acted voices: 13 columns, localid and clipName, letters for emotions",
        kind="names",
        write=csv(
            _voices,
            "rs",
            {
                "": "{n}",
                "localid": "{r}",
                "pos": lambda row: 40 + row.n,
                "ans": lambda row: f"{row.v}_{40 + row.n}",
                "ttr": lambda row: 2100 + 7 * row.n,
                "queryType": lambda row: 1 + row.s_n % 3,
                "numTries": "0",
                "clipNum": lambda row: 90 + row.s_n,
                "questNum": "{s_n}",
                "subType": "4",
                "clipName": "{s}",
                "sessionNums": "{r_n}",
                "respEmo": ANSWERS,
                "respLevel": lambda row: 40 + row.n,
                "dispEmo": "H",
                "dispVal": "LO",
                "dispLevel": "20",
            },
            quoted=True,
        ),
        right=_voices,
    ),
    Stranger(
        name="a_column_for_each_kind_of_trial",
        like="norms of emoji: each row fills the column of its question, others are empty",
        kind="sparse columns",
        write=csv(
            _emoji,
            "rls",
            {
                "submission_id": "{r}",
                "trial_name": "{l}",
                "name": "{s}",
                "RT": lambda row: 800 + 11 * row.n,
                "{l}": ANSWERS,
            },
        ),
        right=_emoji,
    ),
    Stranger(
        name="tracking_ids",
        like="an online study with what browsers and advertisements add to a link",
        kind="guards",
        write=csv(
            _tracked,
            "rs",
            {
                "participant": "{r}",
                "image": "{s}",
                "rating": ANSWERS,
                "fbclid": lambda row: f"IwAR{row.r}",
                "gclid": "",
                "ip_address": lambda row: f"192.0.2.{row.r_n}",
                "latitude": lambda row: 45.4 + row.r_n,
                "email": lambda row: f"{row.r}@example.org".lower(),
            },
        ),
        right=_tracked,
        never=("fbclid", "gclid", "ip_address", "latitude", "email"),
    ),
    Stranger(
        name="two_days_and_a_question",
        apart="session",
        like="everything was asked on two days: day, and a row for each question",
        kind="guards",
        write=text(
            "ratings.csv",
            "subject,day,film,feeling,score\n"
            + "".join(
                f"{one.rater},{day},{one.stimulus},{one.label},"
                f"{written(one.value) if day == 1 else 8 - int(one.value)}\n"
                for day in (1, 2)
                for one in _session
            ),
        ),
        right=(
            *_session,
            *(one._replace(value=8 - float(one.value)) for one in _session),
        ),
    ),
    Stranger(
        name="progress_and_duration",
        like="a survey tool's columns among the ratings: duration, progress",
        kind="guards",
        write=csv(
            _progress,
            "rs",
            {
                "PID": "{r}",
                "face": "{s}",
                "joy": Answers(lambda given: written(given[0].value)),
                "progress": lambda row: 10 * row.s_n,
                "fear": Answers(lambda given: written(given[1].value)),
                "duration_s": lambda row: 3 + row.n % 7,
                "trust": Answers(lambda given: written(given[2].value)),
            },
        ),
        right=_progress,
    ),
    Stranger(
        name="some_prefer_not_to_answer",
        like="numbers, and words of those who would rather not say",
        kind="missing answers",
        write=csv(
            (
                *_refused[:-4],
                _refused[-4]._replace(value="prefer not to answer"),
                _refused[-3]._replace(value="k.A."),
                *_refused[-2:],
            ),
            "rs",
            {"rater": "{r}", "image": "{s}", "rating": ANSWERS},
        ),
        right=(*_refused[:-4], *_refused[-2:]),
    ),
    Stranger(
        name="one_known_name_image",
        like="a table in which one name is known, and another column crosses it",
        kind="shapes",
        write=csv(_half, "rs", {"code": "{r}", "image": "{s}", "points": ANSWERS}),
        right=_half,
    ),
    Stranger(
        name="one_known_name_participant",
        like="participants, pictures by a number under a name of one's own, two dimensions",
        kind="shapes",
        write=csv(_coded, "rs", {"participant": "{r}", "nummer": "{s}", "{l}": ANSWERS}),
        right=_coded,
    ),
    Stranger(
        name="no_known_name",
        like="two columns of names that cross, and neither says which of them are people",
        kind="shapes",
        write=csv(_unnamed, "rs", {"k1": "{r}", "k2": "{s}", "y": ANSWERS}),
        right=_unnamed,
        asks="k1 and k2 cross, and nothing says which of them names people",
    ),
    Stranger(
        name="eprime_utf16",
        like="a merged export of an experiment program: UTF-16, tabs, Rate….RESP and Rate….RT",
        kind="encoding",
        write=csv(
            _eprime,
            "rs",
            {
                "ExperimentName": "Rate2020",
                "Subject": "{r}",
                "Session": "1",
                "Trial": "{s_n}",
                "Picture": "{s}",
                "RateValence.RESP": Answers(lambda given: written(given[0].value)),
                "RateValence.RT": lambda row: 900 + row.n,
                "RateArousal.RESP": Answers(lambda given: written(given[1].value)),
                "RateArousal.RT": lambda row: 700 + row.n,
            },
            name="merged.txt",
            separator="\t",
            encoding="utf-16",
            end="\r\n",
        ),
        right=_eprime,
        also={"RateValence.RESP": "valence", "RateArousal.RESP": "arousal"},
    ),
    Stranger(
        name="toloka_assignments",
        like="assignments of a crowd platform: INPUT:…, OUTPUT:…, ASSIGNMENT:…",
        kind="names",
        write=csv(
            _toloka,
            "sr",
            {
                "INPUT:image": "{s}",
                "OUTPUT:emotion": ANSWERS,
                "GOLDEN:emotion": "",
                "HINT:text": "",
                "ASSIGNMENT:link": lambda row: f"https://example.org/task/{row.n}",
                "ASSIGNMENT:assignment_id": lambda row: f"0001--{row.n}",
                "ASSIGNMENT:worker_id": "{r}",
                "ASSIGNMENT:status": "APPROVED",
            },
            mixed=True,
            name="assignments.tsv",
            separator="\t",
        ),
        right=_toloka,
    ),
    Stranger(
        name="condition_called_emotion",
        like="music rated in two designs: a condition called Emotion, NA in the other's columns",
        kind="guards",
        write=csv(
            tuple(
                one
                for one in _conditions
                if (int(one.rater) % 2 == 1) == (one.label in ("Anger", "Happy"))
            ),
            "rs",
            {
                "": "{n}",
                "Track": "{s}",
                "Category": lambda row: ("Anger", "Happy")[row.s_n % 2],
                "Level": "Moderate",
                "id": "{r}",
                "Anger": Answers(lambda given: _na(given, "Anger")),
                "Happy": Answers(lambda given: _na(given, "Happy")),
                "Gender": sex,
                "Age": age,
                "Emotion": lambda row: ("Dimensional", "Discrete")[int(row.r) % 2],
                "Tension": Answers(lambda given: _na(given, "Tension")),
                "Valence": Answers(lambda given: _na(given, "Valence")),
            },
            quoted=True,
        ),
        right=tuple(
            one
            for one in _conditions
            if (int(one.rater) % 2 == 1) == (one.label in ("Anger", "Happy"))
        ),
    ),
    Stranger(
        name="individual_ratings_without_raters",
        like="single ratings of texts, one row each, and no column says whose: id, V, A, D",
        kind="nobody named",
        write=csv(_emobank, "sr", {"id": "{s}", "{l}": ANSWERS}),
        right=_emobank,
        anonymous=True,
    ),
)


# One mechanism: columns that cross.

_items = world(
    ("ann@lab.example", "bo@lab.example", "cy@lab.example"),
    names("item {}", 5),
    ("warmth", "anger"),
    FIVE,
)
_labelled = world(
    names("annotator_{}", 4), names("o propozitie {}", 5), ("bucurie", "frica"), range(4), gaps=7
)
_evasion = world(
    names("Annotator{}", 3), names("How do you feel about plan {}?", 12), levels=("calm", "angry")
)
_two = world(("Coder A", "Coder B"), names("case {}", 14), levels=("joy", "fear", "other"))
_letters = world(("rater_a", "rater_b", "rater_c"), names("clip{:02d}", 12), levels=FIVE)
_people = world(("Maya", "Jonas", "Priya"), names("img_{}.png", 13), levels=("happy", "sad"))
_models = world(
    ("human", "GPT3.5", "GPT4", "GPT4-Turbo"), names("tweet no {}", 12), levels=("joy", "anger")
)
_oracle = world(("annotator1", "annotator2", "gpt4o"), names("post {}", 12), levels=range(4))
_moral = world(names("S{}", 12), names("{}", 3), ("blame", "anger"), SEVEN)
_images = world(PEOPLE + names("q{}", 7), names("img{}", 3), ("joy", "fear"), SEVEN)
_dots = world(names("{}", 12, 301), ("face01", "face02", "face03"), ("anger", "trust"), FIVE)
_colons = world(names("P{}", 12), ("F1", "F2", "F3"), ("Happy", "Sad"), FIVE)
_comments = world(("ann1", "ann2", "ann3"), names("c{}", 12), ("joy", "fear"), range(4))
_several = sets(("coder1", "coder2"), names("t{}", 12), ("joy", "fear", "anger"), "several")
_human = sets(("human_label", "gpt_label"), names("e{}q", 12), ("joy", "remorse", "love"), "gpt")
_tags = sets(names("A{}", 3), names("{}", 5), ("confused", "angry", "worried"), "tags")
_votes = world(names("v{}", 10), names("10{:02d}_TIE_ANG", 12), levels=tuple("ADFHNS"))
_captions = world(names("v{}", 9), names("caption {}", 12), levels=("Unfunny", "Funny"), gaps=8)
_quadruples = tuple(
    (f"w{k % 3}", names("tweet{}", 4, 4 * (k // 3) + 1), (k + k // 3) % 4, (k + k // 3 + 2) % 4)
    for k in range(12)
)
_trials = tuple(
    (f"s{k % 2}", names("word{}", 4, 4 * (k // 2) + 1), (k + 1) % 4, (k + 2 + k % 2) % 4)
    for k in range(12)
)

CROSSED = (
    Stranger(
        name="label_rows_rater_mails",
        like="a row for each item and field, a column for each annotator's address",
        kind="label rows x rater columns",
        write=csv(
            _items,
            "sl",
            {
                "item_id": "{s}",
                "field": "{l}",
                "{r}": ANSWERS,
                "authoritative_annotator": "ann@lab.example",
                "annotated_at": "2026-07-16",
            },
        ),
        right=_items,
    ),
    Stranger(
        name="label_rows_no_ids",
        like="a row per text and emotion, no numbers of texts, a column per annotator, gaps",
        kind="label rows x rater columns",
        write=csv(_labelled, "sl", {"text": "{s}", "emotion": "{l}", "{r}": ANSWERS}),
        right=_labelled,
    ),
    Stranger(
        name="three_annotators_of_questions",
        like="question, Annotator1 to Annotator3, a category each",
        kind="rater columns",
        write=csv(_evasion, "s", {"question": "{s}", "{r}": ANSWERS}),
        right=_evasion,
    ),
    Stranger(
        name="coder_a_coder_b",
        like="two coders of a content analysis: Case, Coder A, Coder B",
        kind="rater columns",
        write=csv(_two, "s", {"Case": "{s}", "{r}": ANSWERS}),
        right=_two,
    ),
    Stranger(
        name="raters_by_letter_and_mean",
        like="clip, rater_a to rater_c, and the mean of these",
        kind="rater columns",
        write=csv(
            _letters,
            "s",
            {
                "clip": "{s}",
                "{r}": ANSWERS,
                "mean": lambda row: f"{_mean(_letters, row.s):.2f}",
            },
        ),
        right=_letters,
    ),
    Stranger(
        name="raters_by_first_name",
        like="ImageID, a column for each of three people by first name, and what they agreed on",
        kind="rater columns",
        write=csv(
            _people,
            "s",
            {"ImageID": "{s}", "{r}": ANSWERS, "consensus": lambda row: _most(_people, row.s)},
        ),
        right=_people,
    ),
    Stranger(
        name="human_beside_models",
        like="text, human, and a column for each of three models",
        kind="model columns",
        write=csv(_models, "s", {"text": "{s}", "{r}": ANSWERS}),
        right=_models,
        kinds=dict.fromkeys(("GPT3.5", "GPT4", "GPT4-Turbo"), "model"),
    ),
    Stranger(
        name="a_model_between_annotators",
        like="two annotators, and a column of a model between them and the final label",
        kind="model columns",
        write=csv(
            _oracle,
            "s",
            {"tweet": "{s}", "{r}": ANSWERS, "final": lambda row: round(_mean(_oracle, row.s))},
        ),
        right=_oracle,
        kinds={"gpt4o": "model"},
    ),
    Stranger(
        name="questions_by_video",
        like="vignettes: ID, Timestamp, blame_1, blame_2, …, anger_1, …",
        kind="stimulus x label",
        write=csv(_moral, "r", {"Timestamp": "2025/03/04 10:00", "ID": "{r}", "{l}_{s}": ANSWERS}),
        right=_moral,
    ),
    Stranger(
        name="images_by_emotion",
        like="participant, age, img1_joy, img1_fear, img2_joy, …",
        kind="stimulus x label",
        write=csv(
            _images,
            "r",
            {"participant": "{r}", "age": lambda row: 18 + 4 * row.r_n, "{s}_{l}": ANSWERS},
        ),
        right=_images,
    ),
    Stranger(
        name="emotions_by_face_dots",
        like="names of R: anger.face01, anger.face02, …, trust.face01",
        kind="stimulus x label",
        write=csv(_dots, "r", {"subject_nr": "{r}", "{l}.{s}": ANSWERS}),
        right=_dots,
    ),
    Stranger(
        name="faces_by_emotion_colons",
        like="a workbook with `F1: Happy`, `F1: Sad`, … for names",
        kind="stimulus x label",
        write=workbook(
            Answers=[
                [cell if place == 0 else _number(cell) for place, cell in enumerate(row)]
                for row in table(_colons, "r", {"Participant": "{r}", "{s}: {l}": ANSWERS})
            ]
        ),
        right=_colons,
    ),
    Stranger(
        name="emotions_by_annotator",
        like="comments with joy_ann1, joy_ann2, …, fear_ann1, …",
        kind="rater x label",
        write=csv(_comments, "s", {"comment_id": "{s}", "{l}_{r}": ANSWERS}),
        right=_comments,
    ),
    Stranger(
        name="sets_by_coder",
        like="two coders, several emotions in a cell with a bar between them",
        kind="sets in cells",
        write=csv(_several, "s", {"text_id": "{s}", "{r}": Answers(chosen("|"))}),
        right=_several,
    ),
    Stranger(
        name="sets_of_human_and_model",
        like="texts with the emotions that people and a model named, commas in quotes",
        kind="sets in cells",
        write=csv(
            _human,
            "s",
            {
                "": lambda row: row.n - 1,
                "text": lambda row: f"what was written, no {row.n}",
                "id": "{s}",
                "{r}": Answers(chosen(",")),
            },
        ),
        right=_human,
        kinds={"gpt_label": "model"},
        also={f"what was written, no {k}": f"e{k}q" for k in range(1, 13)},
    ),
    Stranger(
        name="tags_of_annotators",
        like="JSON Lines: a list of annotator and tags for each text, beside summed scores",
        kind="lists of annotations",
        write=as_json(
            "train.jsonl",
            [
                {
                    "text": f"She said no {stimulus}",
                    "labels": ["confused"],
                    "scores": {"confused": 0.6, "angry": 0.2, "worried": 0.2},
                    "annotations": [
                        {
                            "annotator_id": rater,
                            "tags": [
                                one.label
                                for one in of(_tags, stimulus=stimulus, rater=rater)
                                if ticked(one)
                            ],
                        }
                        for rater in each(_tags, "rater")
                    ],
                    "id": stimulus,
                    "label_count": 3,
                }
                for stimulus in each(_tags, "stimulus")
            ],
            lines=True,
        ),
        right=_tags,
        also={f"She said no {k}": str(k) for k in range(1, 6)},
    ),
    Stranger(
        name="votes_by_emotion",
        like="how many chose each emotion of each recording, with means and the winner beside",
        kind="votes",
        write=csv(
            _votes,
            "s",
            {
                "": lambda row: 100000 + row.n,
                "{v}": Answers(count),
                "fileName": "{s}",
                "numResponses": "10",
                "agreement": lambda row: f"{_share(_votes, row.s):g}",
                "emoVote": lambda row: _most(_votes, row.s),
            },
            quoted=True,
        ),
        right=_votes,
        anonymous=True,
    ),
    Stranger(
        name="votes_for_captions",
        like="how many found each caption unfunny or funny, not equally many each",
        kind="votes",
        write=csv(_captions, "s", {"{v}": Answers(count), "Caption": "{s}"}),
        right=_captions,
        anonymous=True,
    ),
    Stranger(
        name="best_and_worst_items",
        like="best-worst scaling: four items, the best and the worst by name, an annotator",
        kind="best-worst",
        write=text(
            "annotations.csv",
            "Item1,Item2,Item3,Item4,BestItem,WorstItem,AnnotatorID\n"
            + "".join(
                f"{','.join(items)},{items[best]},{items[worst]},{judge}\n"
                for judge, items, best, worst in _quadruples
            ),
        ),
        right=comparisons(_quadruples),
    ),
    Stranger(
        name="best_worst_options",
        like="best, worst, option1 to option4, with a column of people at the end",
        kind="best-worst",
        write=text(
            "trials.csv",
            "best,worst,option1,option2,option3,option4,participant\n"
            + "".join(
                f"{items[best]},{items[worst]},{','.join(items)},{judge}\n"
                for judge, items, best, worst in _trials
            ),
        ),
        right=comparisons(_trials),
    ),
)

# What tools write: surveys, experiments, annotation, models.

_agree = ("not at all", "slightly", "moderately", "very", "extremely")
_grid = world(names("a{}@b.example", 12), names("Face {}", 3), ("Joy", "Fear"), _agree)
_asked = world(names("R_{}abc", 12), names("face{}.jpg", 3), ("joy", "fear"), SEVEN)
_loops = world(names("R_{}xyz", 12), names("clip{}", 3), levels=FIVE)
_lime = world(names("{}", 12), names("Q{:02d}", 3), ("joy", "fear"), FIVE)
_sosci = world(names("{}", 12, 41), names("RA{:02d}", 4), levels=SEVEN)
_redcap = world(names("{}", 4), names("f{}.png", 4), ("joy", "fear"), FIVE)
_psychopy = world(("p1", "p2", "p3"), names("stim/{}.png", 4), levels=NINE)
_gorilla = world(("901", "902", "903"), names("m{}.png", 4), levels=FIVE)
_next = world(("k1", "k2", "k3"), names("pic{}.png", 4), levels=(0, 25, 50, 75, 100))
_lewidi = world(names("Ann{}", 4, 844), names("{}", 6, 3944), levels=range(1, 7))
_brexit = world(names("Ann{}", 5), names("{}", 6), levels=YES_NO)
_nli = sets(names("Ann{}", 4), names("{}", 6, 49807), ("contradiction", "entailment"), "nli")
_truth = world(names("private.{}", 3), names("bucket/{}.png", 5), levels=("joy", "fear"))
_web = world(names("web{}", 4), names("f{}.webp", 4), DIMENSIONS, NINE)
_leaves = world(names("ann{}", 3), names("page{}.png", 4), DIMENSIONS, NINE)
_pushed = world(names("-Nx{}", 4), names("clip{}.mp4", 3), levels=NINE)
_linked = world(names("a{}", 3), names("{}", 5, 10), levels=("joy", "fear"))
_listed = world(names("w{}", 3), names("t{}", 6), levels=("joy", "fear", "anger"))
_posts = world(names("{}", 3, 203), names("{}_gab", 6, 10), levels=("normal", "hate", "rude"))
_columnar = world(names("{}", 3, 4), names("{}_tw", 6), levels=("normal", "hate", "rude"))
_places = world(names("annotator{}", 3), names("{}", 8, 1), names("label {}", 4), YES_NO)
_lexicon = world(("VADER",), names("t{}", 8), levels=(-1, 0, 1))
_tool = world(
    ("face-api",), names("pic{}.png", 6), ("angry", "fearful", "happy", "surprised"), (0, 1)
)
_frames = world(("deepface",), names("img{}.jpg", 12), EKMAN[:4], (5, 10, 20, 40, 80))
_copied = world(("ann", "bo", "gpt-4o"), names("x{}.png", 6), DIMENSIONS, SEVEN)
_norms = world(("mean",), names("word{}", 12), DIMENSIONS, NINE)


_sentences = world(names("R_{}klm", 12), names("face{}.jpg", 3), ("joy", "fear"), SEVEN)
_chosen_texts = sets(
    names("R_{}nop", 12), names("face{}.jpg", 3), ("Joy", "Fear", "Anger, or rage"), "texts"
)
_tick_grid = sets(names("{}", 12), names("Bild {}", 3), ("Freude", "Angst", "Wut"), "grid")
_zu = ("stimme überhaupt nicht zu", "stimme eher nicht zu", "stimme eher zu", "stimme voll zu")
_agreed = world(names("{}", 12), ("Q01", "Q02"), ("Freude", "Angst"), _zu)
_kept_back = world(names("g{}@i.example", 12), names("Gesicht {}", 2), ("Freude", "Wut"), FIVE)
_monkey_sets = sets(names("1190{}", 12, 10), ("Face 1", "Face 2"), ("Happy", "Sad", "Calm"), "ms")
_pages = world(names("subject_{}", 3), names("pic{}.png", 4), ("valence", "arousal"), NINE)
_asked_twice = world(
    ("m1", "m2"), names("clip{}.mp4", 4), ("How pleasant was it?", "How moved are you?"), FIVE
)
_repeats = world(names("{}", 4), ("a face", "a dog", "a cup"), ("Joy", "Fear"), YES_NO)
_statements = world(names("{}", 12), names("{}", 3), ("Happy", "Sad"), _agree)
_windows_task = world(("801", "802"), names("m{}.png", 4), levels=FIVE)


def _ours() -> Ratings:
    given = {name: [getattr(one, name) for one in _copied] for name in Answer._fields}
    kinds = {
        "rater": ["ann", "bo", "gpt-4o"],
        "rater_kind": ["human", "human", "model"],
    }
    return Ratings(given, scale="1-7", raters=kinds)


def _copy_alone(place: Path) -> Path:
    """Write a table as affectlab does, and keep the table alone."""
    (place / "whole").mkdir()
    made = Path(_ours().write(place / "whole" / "ratings.csv"))
    (place / "ratings.csv").write_bytes(made.read_bytes())
    return place / "ratings.csv"


def _folder_of_ours(place: Path) -> Path:
    """Write a folder as a demonstration leaves it: answers, a page and tables of results."""
    folder = place / "demo"
    (folder / "tables").mkdir(parents=True)
    _ours().write(folder / "ratings.csv")
    (folder / "report.html").write_text("<html></html>")
    (folder / "tables" / "scores.csv").write_text("stimulus,label,score\nx1.png,valence,3.5\n")
    return folder


def _exported(place: Path) -> Path:
    """Export a table as wide CSV."""
    return Path(_ours().export("wide", place / "for-spss"))


def _psychopy_folder(place: Path) -> Path:
    """Write a file for each participant, one by a later version with more columns."""
    (place / "data").mkdir()
    for rater in each(_psychopy, "rater"):
        later = rater == "p3"
        header = ["face", "trials.thisN", "slider.response", "slider.rt", "participant", "session"]
        header += ["date", "expName", "psychopyVersion", "frameRate", *["expStart"] * later]
        about = ["001", "2026-11-27", "faces", "2026.2.5", "60", *["10:00"] * later]
        rows = [
            [one.stimulus, n, written(one.value), 0.5, rater, *about]
            for n, one in enumerate(of(_psychopy, rater=rater))
        ]
        (place / "data" / f"{rater}_faces.csv").write_text(as_csv(header, *rows))
    return place / "data"


def _jspsych_folder(place: Path) -> Path:
    """Write the trials of each participant as a file that alone says who it was."""
    (place / "data").mkdir()
    for rater in each(_pages, "rater"):
        trials = [
            trial(
                "survey-likert",
                n,
                stimulus=f"<img src='{face}'>",
                response={
                    one.label: int(one.value) for one in of(_pages, rater=rater, stimulus=face)
                },
                question_order=[0, 1],
            )
            for n, face in enumerate(each(_pages, "stimulus"))
        ]
        (place / "data" / f"{rater}.json").write_text(json.dumps(trials))
    return place / "data"


_jspsych = world(("s1", "s2", "s3"), names("img/{}.jpg", 4), levels=FIVE)
_sesame = world(names("{}", 3), names("pic_{}.png", 4), DIMENSIONS, NINE)
_labvanced = world(names("{}", 3, 551), names("face_{}.png", 4), DIMENSIONS, NINE, gaps=4)
_monkey = world(names("1180{}", 12, 10), ("Face 1", "Face 2"), ("Happy", "Sad"), FIVE)
_levels = world(("r1", "r2", "r3"), names("img{}.png", 12), DIMENSIONS, NINE)
_boxes = sets(names("g{}@h.example", 12), ("Face 1", "Face 2"), ("Joy", "Fear", "Anger"), "boxes")

EXPORTS = (
    Stranger(
        name="jspsych_as_csv",
        like="a browser experiment saved as CSV, every cell in quotes, the participant in each row",
        kind="trials",
        write=csv(
            _jspsych,
            "rs",
            {
                "rt": lambda row: 700 + row.n,
                "stimulus": "{s}",
                "response": ANSWERS,
                "trial_type": "image-slider-response",
                "trial_index": "{s_n}",
                "time_elapsed": lambda row: 1000 * row.s_n,
                "internal_node_id": lambda row: f"0.0-{row.s_n}.0",
                "participant": "{r}",
            },
            quoted=True,
        ),
        right=_jspsych,
    ),
    Stranger(
        name="opensesame_log",
        like="a log of an experiment program: many columns, subject_nr, response_valence, …",
        kind="trials",
        write=csv(
            _sesame,
            "rs",
            {
                "acc": "undefined",
                "average_response_time": lambda row: 900 + row.n,
                "count_trial": "{s_n}",
                "datetime": "03/04/26 10:00:00",
                "experiment_file": "faces.osexp",
                "logfile": lambda row: f"C:/data/subject-{row.r}.csv",
                "picture": "{s}",
                "response_valence": Answers(lambda given: written(given[0].value)),
                "response_arousal": Answers(lambda given: written(given[1].value)),
                "response_time_valence": lambda row: 800 + row.n,
                "response_time_arousal": lambda row: 950 + row.n,
                "subject_nr": "{r}",
                "subject_parity": lambda row: ("even", "odd")[row.r_n % 2],
            },
            quoted=True,
        ),
        right=_sesame,
        also={"response_valence": "valence", "response_arousal": "arousal"},
    ),
    Stranger(
        name="labvanced_frame",
        like="a data frame of an online platform: Rec_Session_Id, Exp_Subject_Id, Trial_Nr",
        kind="names",
        write=csv(
            _labvanced,
            "rs",
            {
                "Rec_Session_Id": lambda row: 90000 + row.r_n,
                "Exp_Subject_Id": "{r}",
                "Block_Nr": "1",
                "Task_Name": "rating",
                "Trial_Nr": "{s_n}",
                "shown_image": "{s}",
                "{l}": ANSWERS,
            },
        ),
        right=_labvanced,
    ),
    Stranger(
        name="surveymonkey_two_headers",
        like="a survey tool with two rows of names: the question, and below it each emotion",
        kind="two headers",
        write=text(
            "Faces.csv",
            as_csv(
                ["Respondent ID", "Collector ID", "Start Date", "Face 1", "", "Face 2", ""],
                ["", "", "", "Happy", "Sad", "Happy", "Sad"],
                *[
                    [rater, "4002", "03/04/2026"]
                    + [
                        written(one.value)
                        for face in each(_monkey, "stimulus")
                        for one in of(_monkey, rater=rater, stimulus=face)
                    ]
                    for rater in each(_monkey, "rater")
                ],
            ),
        ),
        right=_monkey,
    ),
    Stranger(
        name="two_levels_of_names",
        like="a pivoted data frame: the first row of names is the dimension, the second the rater",
        kind="two headers",
        write=text(
            "pivot.csv",
            as_csv(
                ["", *["valence"] * 3, *["arousal"] * 3],
                ["rater", *each(_levels, "rater") * 2],
                ["image", *[""] * 6],
                *[
                    [image, *(written(one.value) for one in of(_levels, stimulus=image))]
                    for image in each(_levels, "stimulus")
                ],
            ),
        ),
        right=_levels,
    ),
    Stranger(
        name="google_checkboxes",
        like="a form in which several emotions could be ticked for each face",
        kind="sets in cells",
        write=csv(
            _boxes,
            "r",
            {
                "Timestamp": "2026/11/27 9:00:00 AM GMT+1",
                "Email Address": "{r}",
                "{s}": Answers(chosen(", ")),
            },
            quoted=True,
        ),
        right=_boxes,
        also={f"participant-{k:02d}": f"g{k}@h.example" for k in range(1, 13)},
        never=("Email Address",),
    ),
    Stranger(
        name="qualtrics_stimulus_in_the_text",
        like="a survey in which the words of a question name picture and emotion",
        kind="survey text",
        write=text(
            "Faces_March 4, 2026_10.00.csv",
            qualtrics(
                {
                    "StartDate": ("Start Date", "startDate"),
                    "Progress": ("Progress", "progress"),
                    "Duration (in seconds)": ("Duration (in seconds)", "duration"),
                    "ResponseId": ("Response ID", "_recordId"),
                    **{
                        f"Q{3 + place}_{k + 1}": (
                            f"{face} - How much of each emotion does this face show? - {label}",
                            f"QID{3 + place}_{k + 1}",
                        )
                        for place, face in enumerate(each(_asked, "stimulus"))
                        for k, label in enumerate(each(_asked, "label"))
                    },
                },
                *[
                    ["2026-03-04", 100, 300, rater]
                    + [
                        written(one.value)
                        for face in each(_asked, "stimulus")
                        for one in of(_asked, rater=rater, stimulus=face)
                    ]
                    for rater in each(_asked, "rater")
                ],
            ),
        ),
        right=_asked,
    ),
    Stranger(
        name="qualtrics_loop_tsv_utf16",
        like="the tab-separated export of a survey, UTF-16, a loop over clips",
        kind="encoding",
        write=text(
            "Clips.tsv",
            qualtrics(
                {
                    "StartDate": ("Start Date", "startDate"),
                    "ResponseId": ("Response ID", "_recordId"),
                    "LocationLatitude": ("Location Latitude", "locationLatitude"),
                    **{
                        f"{k}_Q10_1": (f"{clip} - How pleasant was it? - Pleasant", f"{k}_QID10_1")
                        for k, clip in enumerate(each(_loops, "stimulus"), start=1)
                    },
                },
                *[
                    ["2026-03-04", rater, 45.1]
                    + [written(one.value) for one in of(_loops, rater=rater)]
                    for rater in each(_loops, "rater")
                ],
            ).replace(",", "\t"),
            "utf-16",
        ),
        right=_loops,
        never=("LocationLatitude",),
    ),
    Stranger(
        name="limesurvey_grids_by_word",
        like="arrays of a survey: a question for each picture, Q01[joy], Q01[fear], …",
        kind="stimulus x label",
        write=csv(
            _lime,
            "r",
            {
                "id": "{r}",
                "submitdate": "2026-03-04 10:00:00",
                "lastpage": "3",
                "startlanguage": "de",
                "seed": lambda row: 1000 + row.r_n,
                "{s}[{l}]": Answers(lambda given: f"AO{int(given[0].value):02d}"),
                "interviewtime": lambda row: 100 + row.r_n,
            },
            quoted=True,
        ),
        right=_lime,
    ),
    Stranger(
        name="google_grid_in_words",
        like="a form with a grid for each face, answers from `not at all` to `extremely`",
        kind="words of agreement",
        write=csv(
            _grid,
            "r",
            {
                "Timestamp": "2026/11/27 9:00:00 AM GMT+1",
                "Email Address": "{r}",
                "{s} [{l}]": ANSWERS,
            },
        ),
        right=_grid,
        also={f"participant-{k:02d}": f"a{k}@b.example" for k in range(1, 13)},
        scales={"": f"ordinal: {', '.join(_agree)}"},
        never=("Email Address",),
    ),
    Stranger(
        name="sosci_one_question_each",
        like="a survey tool of Germany: CASE, QUESTNNR, a question for each picture, -9 for none",
        kind="missing answers",
        write=csv(
            _sosci,
            "r",
            {
                "CASE": "{r}",
                "SERIAL": "",
                "REF": "",
                "QUESTNNR": "base",
                "MODE": "interview",
                "STARTED": "2026-03-04 10:00:00",
                "{s}": Answers(
                    lambda given: (
                        "-9" if given[0][:2] == ("RA02", "43") else written(given[0].value)
                    )
                ),
                "TIME001": lambda row: 10 + row.r_n,
                "TIME_SUM": lambda row: 90 + row.r_n,
                "FINISHED": "1",
            },
            name="data_faces_2026.csv",
            separator="\t",
            encoding="utf-8-sig",
        ),
        right=tuple(one for one in _sosci if one[:2] != ("RA02", "43")),
    ),
    Stranger(
        name="redcap_repeated_instrument",
        like="a clinical database: an instrument repeated for each face, the face in a field",
        kind="repeated instruments",
        write=csv(
            _redcap,
            "rs",
            {
                "record_id": "{r}",
                "redcap_repeat_instrument": "rating",
                "redcap_repeat_instance": "{s_n}",
                "face": "{s}",
                "{l}": ANSWERS,
                "rating_complete": "2",
            },
        ),
        right=_redcap,
    ),
    Stranger(
        name="psychopy_two_versions",
        like="a folder with a file for each participant, one with a further column",
        kind="folders",
        write=_psychopy_folder,
        right=_psychopy,
    ),
    Stranger(
        name="gorilla_bare_end",
        like="an experiment builder whose last line is a bare END OF FILE",
        kind="ragged files",
        write=csv(
            _gorilla,
            "rs",
            {
                "Event Index": "{n}",
                "UTC Timestamp": lambda row: 1700000000000 + row.n,
                "Participant Public ID": lambda row: f"PUB{row.r_n}",
                "Participant Private ID": "{r}",
                "Task Name": "faces",
                "Trial Number": "{s_n}",
                "Screen Name": "face",
                "Zone Name": "Zone2",
                "Zone Type": "response_rating_scale_likert",
                "Reaction Time": lambda row: 800 + row.n,
                "Response": ANSWERS,
                "Attempt": "",
                "display": "trial",
                "image": "{s}",
            },
            below="END OF FILE\n",
        ),
        right=_gorilla,
    ),
    Stranger(
        name="jspsych_shows_then_asks",
        like="trials of a browser experiment: a picture in one trial, the question in the next",
        kind="trials",
        write=as_json(
            "results.json",
            [
                trial_
                for n, one in enumerate(sorted(_next, key=lambda one: one.rater))
                for trial_ in (
                    trial(
                        "image-keyboard-response",
                        2 * n,
                        stimulus=one.stimulus,
                        response=None,
                        participant=one.rater,
                    ),
                    trial(
                        "html-slider-response",
                        2 * n + 1,
                        stimulus="<p>How pleasant was it?</p>",
                        response=int(one.value),
                        slider_start=50,
                        participant=one.rater,
                    ),
                )
            ],
        ),
        right=_next,
    ),
    Stranger(
        name="qualtrics_sentences_that_cross",
        like="a survey with a question of its own for each picture and emotion",
        kind="survey text",
        write=text(
            "Sentences.csv",
            qualtrics(
                {
                    "StartDate": ("Start Date", "startDate"),
                    "ResponseId": ("Response ID", "_recordId"),
                    **{
                        f"Q{n}": (f"How much {label} does {face} show?", f"QID{n}")
                        for n, (face, label) in enumerate(
                            ((f, e) for f in each(_sentences, "stimulus") for e in ("joy", "fear")),
                            start=2,
                        )
                    },
                },
                *[
                    ["2026-03-04", rater]
                    + [
                        written(one.value)
                        for face in each(_sentences, "stimulus")
                        for one in of(_sentences, rater=rater, stimulus=face)
                    ]
                    for rater in each(_sentences, "rater")
                ],
            ),
        ),
        right=_sentences,
    ),
    Stranger(
        name="qualtrics_choices_in_one_cell",
        like="a survey exported as texts, choices not split: `Joy,Anger, or rage`",
        kind="sets in cells",
        write=text(
            "Choices.csv",
            qualtrics(
                {
                    "StartDate": ("Start Date", "startDate"),
                    "ResponseId": ("Response ID", "_recordId"),
                    **{
                        f"Q{n}": (
                            f"Which emotions does {face} show? Select all that apply",
                            f"QID{n}",
                        )
                        for n, face in enumerate(each(_chosen_texts, "stimulus"), start=7)
                    },
                },
                *[
                    ["2026-03-04", rater]
                    + [
                        chosen(",")(of(_chosen_texts, rater=rater, stimulus=face))
                        for face in each(_chosen_texts, "stimulus")
                    ]
                    for rater in each(_chosen_texts, "rater")
                ],
            ),
        ),
        right=_chosen_texts,
    ),
    Stranger(
        name="google_tick_grid",
        like="a German form: a grid of boxes to tick, a row for each picture",
        kind="sets in cells",
        write=csv(
            _tick_grid,
            "r",
            {
                "Zeitstempel": "2026/11/27 9:00:00 AM MEZ",
                "Welche Gefühle zeigt es? [{s}]": Answers(chosen(";")),
            },
            quoted=True,
        ),
        right=_tick_grid,
        also={f"participant-{k:02d}": str(k) for k in range(1, 13)},
    ),
    Stranger(
        name="limesurvey_words_and_no_answer",
        like="arrays of a German survey in words, `keine Angabe` among them, a Windows encoding",
        kind="words of agreement",
        write=csv(
            _agreed,
            "r",
            {
                "id": "{r}",
                "submitdate": "2026-03-04 10:00:00",
                "lastpage": "3",
                "startlanguage": "de",
                "{s}[{l}]": Answers(
                    lambda given: (
                        "keine Angabe" if given[0][:2] == ("Q02", "7") else written(given[0].value)
                    )
                ),
            },
            separator=";",
            encoding="cp1252",
            quoted=True,
        ),
        right=tuple(one for one in _agreed if one[:2] != ("Q02", "7")),
        scales={"": f"ordinal: {', '.join(_zu)}"},
    ),
    Stranger(
        name="google_grid_with_k_a",
        like="a German form with grids of numbers, and `k.A.` for no answer",
        kind="missing answers",
        write=csv(
            _kept_back,
            "r",
            {
                "Zeitstempel": "27.11.2026 09:00:00",
                "E-Mail-Adresse": "{r}",
                "{s} [{l}]": Answers(
                    lambda given: (
                        "k.A."
                        if given[0][1:3] == ("g3@i.example", "Wut")
                        else written(given[0].value)
                    )
                ),
            },
        ),
        right=tuple(one for one in _kept_back if one[1:3] != ("g3@i.example", "Wut")),
        also={f"participant-{k:02d}": f"g{k}@i.example" for k in range(1, 13)},
        scales={"": "ordinal 1 to 5, step 1"},
        never=("E-Mail-Adresse",),
    ),
    Stranger(
        name="surveymonkey_choices",
        like="two rows of names: choices of one question over several columns, `Other` typed in",
        kind="two headers",
        write=text(
            "Choices.csv",
            as_csv(
                ["Respondent ID", "Collector ID", "Start Date", "How old are you?"]
                + [cell for face in ("Face 1", "Face 2") for cell in (face, "", "", "")],
                ["", "", "", "Open-Ended Response"]
                + ["Happy", "Sad", "Calm", "Other (please specify)"] * 2,
                *[
                    [rater, "4002", "03/04/2026", 20 + n]
                    + [
                        cell
                        for face in each(_monkey_sets, "stimulus")
                        for cell in (
                            *(
                                one.label if ticked(one) else ""
                                for one in of(_monkey_sets, rater=rater, stimulus=face)
                            ),
                            "",
                        )
                    ]
                    for n, rater in enumerate(each(_monkey_sets, "rater"))
                ],
            ),
        ),
        right=_monkey_sets,
    ),
    Stranger(
        name="microsoft_forms_statements",
        like="a form with the same statements below each picture: Happy, Sad, Happy2, Sad2, …",
        kind="stimulus x label",
        write=csv(
            _statements,
            "r",
            {
                "ID": "{r}",
                "Start time": "11/27/26 9:00:00",
                "Completion time": "11/27/26 9:05:00",
                "Email": "anonymous",
                "Name": "",
                **{
                    f"{label}{'' if k == '1' else k}": Answers(
                        lambda given, k=k, label=label: next(
                            written(one.value)
                            for one in given
                            if one.stimulus == k and one.label == label
                        )
                    )
                    for k in each(_statements, "stimulus")
                    for label in each(_statements, "label")
                },
                "What is your age?": lambda row: 20 + row.r_n,
            },
        ),
        right=_statements,
        scales={"": f"ordinal: {', '.join(_agree)}"},
        never=("Email", "Name"),
    ),
    Stranger(
        name="jspsych_folder_of_json",
        like="a folder with the trials of each participant as JSON, named by its file alone",
        kind="folders",
        write=_jspsych_folder,
        right=_pages,
    ),
    Stranger(
        name="jspsych_two_questions_after",
        like="a clip in one trial, and two questions about it in the next two",
        kind="trials",
        write=as_json(
            "results.json",
            [
                made
                for rater in each(_asked_twice, "rater")
                for clip in each(_asked_twice, "stimulus")
                for made in (
                    trial("video-keyboard-response", 0, stimulus=[clip], subject=rater),
                    *(
                        trial(
                            "html-slider-response",
                            1,
                            stimulus=f"<p>{one.label}</p>",
                            response=int(one.value),
                            subject=rater,
                        )
                        for one in of(_asked_twice, rater=rater, stimulus=clip)
                    ),
                    trial("html-button-response", 2, stimulus="Go on?", response=0, subject=rater),
                )
            ],
        ),
        right=_asked_twice,
    ),
    Stranger(
        name="redcap_labels_repeated",
        like="a clinical database with labels: a row about the person, and one for each picture",
        kind="repeated instruments",
        write=text(
            "Pictures_DATA_LABELS.csv",
            as_csv(
                ["Record ID", "Repeat Instrument", "Repeat Instance", "Age", "Picture shown"]
                + [f"What does it make you feel? (choice={label})" for label in ("Joy", "Fear")]
                + ["Complete?"],
                *[
                    row
                    for rater in each(_repeats, "rater")
                    for row in (
                        [rater, "", "", 30 + int(rater), "", "", "", "Complete"],
                        *(
                            [rater, "Picture", n, "", shown]
                            + [
                                "Checked" if ticked(one) else "Unchecked"
                                for one in of(_repeats, rater=rater, stimulus=shown)
                            ]
                            + ["Complete"]
                            for n, shown in enumerate(each(_repeats, "stimulus"), start=1)
                        ),
                    )
                ],
            ),
        ),
        right=_repeats,
    ),
    Stranger(
        name="jatos_lists_over_many_lines",
        like="results of a server for experiments, each list over many lines, UTF-16",
        kind="ragged files",
        write=text(
            "jatos_results.txt",
            "".join(
                json.dumps(
                    [
                        trial("audio-slider-response", n, stimulus=one.stimulus, response=one.value)
                        | {"PROLIFIC_PID": rater}
                        for n, one in enumerate(of(_windows_task, rater=rater))
                    ],
                    indent=1,
                )
                for rater in each(_windows_task, "rater")
            ),
            "utf-16-le",
        ),
        right=_windows_task,
    ),
    Stranger(
        name="disagreement_annotations_by_name",
        like="data of a shared task: an object for each text, annotations by annotator",
        kind="lists of annotations",
        write=as_json(
            "CSC_dev.json",
            {
                stimulus: {
                    "annotation task": "sarcasm detection",
                    "text": {"context": f"You move, part {stimulus}", "response": "of course"},
                    "number of annotators": 4,
                    "annotators": ",".join(each(_lewidi, "rater")),
                    "number of annotations": 4,
                    "annotations": {
                        one.rater: written(one.value) for one in of(_lewidi, stimulus=stimulus)
                    },
                    "soft_label": {str(level): 0.25 for level in range(1, 7)},
                    "split": "dev",
                    "lang": "en",
                    "other_info": {"context+speaker": f"232_{stimulus}"},
                }
                for stimulus in each(_lewidi, "stimulus")
            },
        ),
        right=_lewidi,
    ),
    Stranger(
        name="disagreement_annotations_in_lists",
        like="the same task's earlier data: annotations and annotators as two texts with commas",
        kind="lists of annotations",
        write=as_json(
            "HS-Brexit_dev.json",
            {
                stimulus: {
                    "text": f"a post about it, no {stimulus}",
                    "annotation task": "hate speech detection",
                    "number of annotations": 5,
                    "annotations": ",".join(
                        written(one.value) for one in of(_brexit, stimulus=stimulus)
                    ),
                    "annotators": ",".join(each(_brexit, "rater")),
                    "lang": "en",
                    "hard_label": "0",
                    "soft_label": {"0": 0.6, "1": 0.4},
                    "split": "dev",
                    "other_info": {"annotators group": "group1,group1,group2,group2,group2"},
                }
                for stimulus in each(_brexit, "stimulus")
            },
        ),
        right=_brexit,
    ),
    Stranger(
        name="disagreement_sets",
        like="the same with several labels of an annotator: `entailment,contradiction`",
        kind="sets in cells",
        write=as_json(
            "VariErrNLI_dev.json",
            {
                stimulus: {
                    "annotation task": "natural language inference",
                    "text": {"context": f"He built {stimulus}", "statement": "in a year"},
                    "number of annotators": 4,
                    "annotators": ",".join(each(_nli, "rater")),
                    "annotations": {
                        rater: chosen(",")(of(_nli, stimulus=stimulus, rater=rater))
                        for rater in each(_nli, "rater")
                    },
                    "soft_label": {"contradiction": {"0": 0.5, "1": 0.5}},
                    "split": "dev",
                }
                for stimulus in each(_nli, "stimulus")
            },
        ),
        right=_nli,
    ),
    Stranger(
        name="ground_truth_all_workers",
        like="output of a labelling service: annotationsFromAllWorkers, answers as JSON in JSON",
        kind="lists of annotations",
        write=as_json(
            "output.json",
            [
                {
                    "source-ref": stimulus,
                    "faces": {
                        "annotationsFromAllWorkers": [
                            {
                                "workerId": one.rater,
                                "annotationData": {
                                    "content": json.dumps({"emotion": {"label": one.value}})
                                },
                            }
                            for one in of(_truth, stimulus=stimulus)
                        ]
                    },
                    "faces-metadata": {"type": "groundtruth/custom", "human-annotated": "yes"},
                }
                for stimulus in each(_truth, "stimulus")
            ],
        ),
        right=_truth,
    ),
    Stranger(
        name="participants_with_lists_of_responses",
        like="JSON of a web study of one's own: participants, each with a list of responses",
        kind="lists of annotations",
        write=as_json(
            "results.json",
            {
                "study": "faces",
                "participants": [
                    {
                        "pid": rater,
                        "age": 20 + n,
                        "responses": [
                            {
                                "face": face,
                                **{
                                    one.label: int(one.value)
                                    for one in of(_web, rater=rater, stimulus=face)
                                },
                            }
                            for face in each(_web, "stimulus")
                        ],
                    }
                    for n, rater in enumerate(each(_web, "rater"))
                ],
            },
        ),
        right=_web,
    ),
    Stranger(
        name="lists_of_answers_by_picture",
        like="an object with a list for each picture, of what each annotator said",
        kind="lists of annotations",
        write=as_json(
            "labels.json",
            {
                page: [
                    {
                        "annotator": rater,
                        **{one.label: one.value for one in of(_leaves, stimulus=page, rater=rater)},
                    }
                    for rater in each(_leaves, "rater")
                ]
                for page in each(_leaves, "stimulus")
            },
        ),
        right=_leaves,
    ),
    Stranger(
        name="pushed_trials",
        like="a database of a web study: participants and trials under keys that were made up",
        kind="lists of annotations",
        write=as_json(
            "export.json",
            {
                "participants": {
                    rater: {
                        "age": 20 + n,
                        "trials": {
                            f"-M{rater}{k}": {"video": one.stimulus, "rating": one.value, "rt": 900}
                            for k, one in enumerate(of(_pushed, rater=rater))
                        },
                    }
                    for n, rater in enumerate(each(_pushed, "rater"))
                },
                "settings": {"version": 3},
            },
        ),
        right=_pushed,
    ),
    Stranger(
        name="lists_joined_by_id",
        like="images, annotations and categories in three lists that refer to each other by id",
        kind="lists of annotations",
        write=as_json(
            "instances.json",
            {
                "info": {"year": 2024},
                "images": [
                    {"id": int(one), "file_name": f"{one}.jpg"} for one in each(_linked, "stimulus")
                ],
                "annotations": [
                    {
                        "id": n,
                        "image_id": int(one.stimulus),
                        "annotator": one.rater,
                        "category_id": 1 + (one.value == "fear"),
                    }
                    for n, one in enumerate(_linked)
                ],
                "categories": [{"id": 1, "name": "joy"}, {"id": 2, "name": "fear"}],
            },
        ),
        right=_linked,
        also={f"{one}.jpg": one for one in each(_linked, "stimulus")},
    ),
    Stranger(
        name="lists_in_text",
        like="a CSV that a data frame wrote: `['w1', 'w2']` beside `['joy', 'fear']`",
        kind="lists of annotations",
        write=csv(
            _listed,
            "s",
            {
                "text_id": "{s}",
                "annotators": str(each(_listed, "rater")),
                "emotions": Answers(lambda given: str([one.value for one in given])),
            },
        ),
        right=_listed,
    ),
    Stranger(
        name="posts_with_annotators",
        like="an object for each post: annotators with label and target, rationales, tokens",
        kind="lists of annotations",
        write=as_json(
            "dataset.json",
            {
                post: {
                    "post_id": post,
                    "annotators": [
                        {"label": one.value, "annotator_id": int(one.rater), "target": ["None"]}
                        for one in of(_posts, stimulus=post)
                    ],
                    "rationales": [] if n % 2 else [[0, 1, 0], [1, 1, 0]],
                    "post_tokens": ["you", "see", f"word{n}"],
                }
                for n, post in enumerate(each(_posts, "stimulus"))
            },
        ),
        right=_posts,
    ),
    Stranger(
        name="annotators_as_lists_in_an_object",
        like="the same as lines, annotators as an object of lists in one order",
        kind="lists of annotations",
        write=as_json(
            "train.jsonl",
            [
                {
                    "id": post,
                    "annotators": {
                        "label": [one.value for one in of(_columnar, stimulus=post)],
                        "annotator_id": [int(one.rater) for one in of(_columnar, stimulus=post)],
                        "target": [["None"], ["Islam", "Women"], ["None"]],
                    },
                    "rationales": [[0, 1, 0, 1], [1, 1, 0, 0]],
                    "post_tokens": ["so", "it", "is", f"word{n}"],
                }
                for n, post in enumerate(each(_columnar, "stimulus"))
            ],
            lines=True,
        ),
        right=_columnar,
    ),
    Stranger(
        name="labels_by_place",
        like="a list of zeros and ones of each annotator, one for each emotion, and their sums",
        kind="lists of annotations",
        write=as_json(
            "train.json",
            [
                {
                    "text": f"post no {text_id}",
                    "text_id": int(text_id),
                    "agreed_labels": [int(n > 1) for n in sums],
                    **{
                        rater: [int(one.value) for one in of(here, rater=rater)]
                        for rater in each(_places, "rater")
                    },
                    "sum_labels": sums,
                }
                for text_id in each(_places, "stimulus")
                for here in [of(_places, stimulus=text_id)]
                for sums in [
                    [
                        int(sum(float(one.value) for one in of(here, label=label)))
                        for label in each(_places, "label")
                    ]
                ]
            ],
        ),
        right=_places,
    ),
    Stranger(
        name="lexicon_scores",
        like="polarity scores of a lexicon: neg, neu, pos and compound of each text",
        kind="nobody named",
        write=csv(
            _lexicon,
            "s",
            {"id": "{s}", "neg": "0.1", "neu": "0.6", "pos": "0.3", "compound": ANSWERS},
        ),
        right=_lexicon,
        kinds={"VADER": "model"},
        scales={"": "interval -1 to 1"},
    ),
    Stranger(
        name="expressions_of_a_face_library",
        like="JSON of a face library of the browser: a picture, and an object of expressions",
        kind="nobody named",
        write=as_json(
            "faces.json",
            [
                {
                    "image": picture,
                    "expressions": {one.label: one.value for one in of(_tool, stimulus=picture)},
                }
                for picture in each(_tool, "stimulus")
            ],
        ),
        right=_tool,
        kinds={"face-api": "model"},
        scales={"": "interval 0 to 1"},
    ),
    Stranger(
        name="face_model_without_a_name",
        like="scores of a face model, a row for each picture, and no column that names the model",
        kind="nobody named",
        write=csv(
            _frames,
            "s",
            {
                "file": "{s}",
                "{l}": ANSWERS,
                "dominant_emotion": "joy",
                "face_confidence": "0.98",
            },
            name="deepface.csv",
        ),
        right=_frames,
        kinds={"deepface": "model"},
        scales={"": "interval 0 to 100"},
    ),
    Stranger(
        name="copied_without_what_lay_beside",
        like="a ratings.csv that affectlab wrote, mailed without the file beside it",
        kind="our own files",
        write=_copy_alone,
        right=_copied,
        kinds={"gpt-4o": "model"},
        scales={"": "ordinal 1 to 7, step 1"},
    ),
    Stranger(
        name="folder_that_affectlab_wrote",
        like="the output folder of a demonstration: ratings.csv, a report and tables of results",
        kind="our own files",
        write=_folder_of_ours,
        right=_copied,
        kinds={"gpt-4o": "model"},
        scales={"": "ordinal 1 to 7, step 1"},
    ),
    Stranger(
        name="folder_that_affectlab_exported",
        like="the folder of a wide export for statistics programs, with its codebook",
        kind="our own files",
        write=_exported,
        right=_copied,
        kinds={"gpt-4o": "model"},
        scales={"": "ordinal 1 to 7, step 1"},
    ),
    Stranger(
        name="norms_with_short_names",
        like="affective norms of videos: V_M_Tot, V_SD_Tot, A_M_Tot, A_SD_Tot",
        kind="summaries",
        write=csv(
            _norms,
            "s",
            {
                "Video_ID": "{s}",
                "POV": "first-person",
                "V_M_Tot": Answers(lambda given: f"{given[0].value:.2f}"),
                "V_SD_Tot": "1.31",
                "A_M_Tot": Answers(lambda given: f"{given[1].value:.2f}"),
                "A_SD_Tot": "1.22",
            },
        ),
        said="means",
    ),
    Stranger(
        name="means_deviations_and_n",
        like="texts with mean valence, arousal and dominance, deviations, and a number of readers",
        kind="summaries",
        write=csv(
            _norms,
            "s",
            {
                "id": "{s}",
                "V": Answers(lambda given: f"{given[0].value:.1f}"),
                "A": Answers(lambda given: f"{given[1].value:.2f}"),
                "stdV": lambda row: f"0.{10 + row.n}",
                "stdA": lambda row: f"0.{30 + row.n}",
                "N": "5",
            },
            quoted=True,
        ),
        said="means",
    ),
)

# The cases from which the work began, made again.

_brighter = world(
    names("Annotator-{}", 3), names("{}", 6, 0), ("Joy", "Fear", "Anger"), range(4), seed="c"
)
_tracks = tuple(
    Answer(f"v{v}", f"r{r}", "", round(5 + ((3 * t + 2 * r + 5 * v) % 17 - 8) / 4, 2))
    for v in (1, 2, 3)
    for r in (1, 2, 3)
    for t in range(10)
)
_codes = sets(("x", "y", "z"), tuple("abcd"), tuple("12345"), "codes")
_loop_codes = sets(names("R_{}abc", 4), ("face1", "face2", "face3"), tuple("12345"), "loop")
_coders = sets(("Coder1", "Coder2"), names("Item{}", 11, 0), ("l1", "l2", "l3", "l4"), "coders")
_pairs = tuple(
    Answer(pair, judge, "", "A" if (k + n) % 3 else "B")
    for k, judge in enumerate(names("j{}", 6, 0))
    for n, pair in enumerate(("A | B", "B | C", "A | C", "D | E"))
)
_jatos = world(("a1", "a2", "a3"), names("f{}.jpg", 4), levels=(10, 37, 54, 71), seed="jatos")
_deap = world(
    names("{}", 4),
    names("{}", 5),
    ("Valence", "Arousal", "Familiarity"),
    {"Valence": (1.5, 3.8, 5.2, 8.9), "Arousal": (2.5, 6.5, 7.5, 8.5), "Familiarity": FIVE},
)
_popq = world(names("{}", 4, 0), names("{}", 6, 0), levels=FIVE, seed="popq")
_wrime = world(
    ("Writer", "Reader1", "Reader2", "Reader3"),
    names("sentence number {}", 8, 0),
    ("Joy", "Sadness", "Anger"),
    range(4),
)
_again = tuple(
    Answer(f"{'xyz'[k] if block == 'A' else 'uvw'[k]}.jpg", f"{block}{who}", "", float(value))
    for block in "AB"
    for who in (1, 2, 3)
    for k, value in enumerate((1 + who, 7 - who, 1 + (2 * who + (block == "B")) % 7))
)


def _traces_csv() -> str:
    rows = [
        f"{one.stimulus},{one.rater},{(n % 10) / 2},{one.value:g}\n"
        for n, one in enumerate(_tracks)
    ]
    return "video,rater,time,valence\n" + "".join(rows)


CASES = (
    Stranger(
        name="label_rows_rater_columns",
        like="a row per text and emotion, a column per annotator",
        kind="label rows x rater columns",
        write=csv(
            _brighter,
            "sl",
            {"text_id": "{s}", "text": "text {s}", "emotion": "{l}", "{r}": ANSWERS},
        ),
        right=_brighter,
        also={f"text {k}": str(k) for k in range(6)},
        case=True,
    ),
    Stranger(
        name="traces_time",
        like="long traces: video, rater, time in seconds, valence",
        kind="traces",
        write=text("traces_time.csv", _traces_csv()),
        right=_tracks,
        apart="at",
        case=True,
    ),
    Stranger(
        name="qualtrics_codes_multi",
        like="a survey exported as values, a select-all question in a loop: cells `1,4`",
        kind="sets in cells",
        write=text(
            "qualtrics_codes_multi.csv",
            qualtrics(
                {
                    "StartDate": ("Start Date", "startDate"),
                    "Progress": ("Progress", "progress"),
                    "Finished": ("Finished", "finished"),
                    "ResponseId": ("Response ID", "_recordId"),
                    **{
                        f"{k}_Q5": (
                            f"{face} - Which emotions does this face show? Select all that apply",
                            f"{k}_QID5",
                        )
                        for k, face in enumerate(each(_loop_codes, "stimulus"), start=1)
                    },
                },
                *[
                    ["2025-02-01 10:00:00", 100, 1, rater]
                    + [
                        chosen(",")(of(_loop_codes, rater=rater, stimulus=face))
                        for face in each(_loop_codes, "stimulus")
                    ]
                    for rater in each(_loop_codes, "rater")
                ],
            ),
        ),
        right=_loop_codes,
        case=True,
    ),
    Stranger(
        name="codes_multi",
        like="the same as a table: image, rater, emotions",
        kind="sets in cells",
        write=csv(_codes, "sr", {"image": "{s}", "rater": "{r}", "emotions": Answers(chosen(","))}),
        right=_codes,
        case=True,
    ),
    Stranger(
        name="two_coders_several_labels",
        like="two coders, cells `l1, l2`",
        kind="sets in cells",
        write=csv(_coders, "s", {"Item": "{s}", "{r}": Answers(chosen(", "))}),
        right=_coders,
        case=True,
    ),
    Stranger(
        name="pairs_two_groups",
        like="comparisons of A, B, C among themselves, and of D and E",
        kind="pairs",
        write=csv(
            _pairs,
            "rs",
            {
                "judge": "{r}",
                "left": lambda row: row.s[0],
                "right": lambda row: row.s[-1],
                "choice": lambda row: row.s[0] if row.v == "A" else row.s[-1],
            },
        ),
        right=_pairs,
        case=True,
    ),
    Stranger(
        name="jatos_no_line_breaks",
        like="lists of results of a server for experiments, one behind the other without a break",
        kind="ragged files",
        write=text(
            "jatos_no_line_breaks.txt",
            "".join(
                json.dumps(
                    [
                        trial("html-keyboard-response", 0, stimulus="hi", participant=rater),
                        *(
                            trial(
                                "image-slider-response",
                                n,
                                stimulus=one.stimulus,
                                slider_start=50,
                                response=int(one.value),
                                participant=rater,
                            )
                            for n, one in enumerate(of(_jatos, rater=rater), start=1)
                        ),
                    ]
                )
                for rater in each(_jatos, "rater")
            ),
        ),
        right=_jatos,
        case=True,
    ),
    Stranger(
        name="participant_trial_experiment",
        like="ratings of films: Participant_id, Trial, Experiment_id, Start_time, three dimensions",
        kind="names",
        write=csv(
            _deap,
            "rs",
            {
                "Participant_id": "{r}",
                "Trial": lambda row: 1 + (row.s_n + 2 * row.r_n) % 5,
                "Experiment_id": "{s}",
                "Start_time": lambda row: 1000 * row.s_n + row.r_n,
                "{l}": ANSWERS,
            },
        ),
        right=_deap,
        scales={"Familiarity": "ordinal 1 to 5, step 1"},
        case=True,
    ),
    Stranger(
        name="instance_user",
        like="offensiveness of texts: instance_id, user_id, text, and what is said of the user",
        kind="names",
        write=csv(
            _popq,
            "sr",
            {
                "instance_id": "{s}",
                "user_id": "{r}",
                "text": "t {s}",
                "offensiveness": Answers(lambda given: f"{given[0].value:.1f}"),
                "gender": lambda row: ("Woman", "Man")[row.r_n % 2],
            },
        ),
        right=_popq,
        also={f"t {k}": str(k) for k in range(6)},
        case=True,
    ),
    Stranger(
        name="writer_and_readers",
        like="Writer_Joy, …, Reader1_Joy, …, Avg. Readers_Joy; UserID is who wrote it",
        kind="rater x label",
        write=csv(
            _wrime,
            "s",
            {
                "Sentence": "{s}",
                "UserID": lambda row: 1 + row.n % 3,
                "Datetime": "2024/01/01 10:00",
                "{r}_{l}": ANSWERS,
                "Avg. Readers_Joy": lambda row: row.n % 3,
                "Avg. Readers_Sadness": lambda row: (row.n + 1) % 3,
                "Avg. Readers_Anger": lambda row: (row.n + 2) % 3,
            },
        ),
        right=_wrime,
        case=True,
    ),
    Stranger(
        name="ids_start_again",
        like="two blocks in which numbers of participants start again at 1",
        kind="guards",
        write=csv(
            _again,
            "rs",
            {
                "block": lambda row: row.r[0],
                "participant": lambda row: row.r[1],
                "age": age,
                "gender": sex,
                "image": "{s}",
                "valence": ANSWERS,
            },
        ),
        right=_again,
        anonymous=True,
        n_raters=6,
        asks="participant 1 is 23 and 58 years old",
        case=True,
    ),
)

_seconds = world(names("V{}", 4), names("b{}", 5), ("Freude", "Wut"), SEVEN)
_skin = world(names("s{:02d}", 4), names("c{}", 5), DIMENSIONS, NINE)
_below = world(("r1", "r2", "r3"), names("img_{}", 6), DIMENSIONS, NINE)
_plain = world(names("p{}", 6), names("img{}.png", 8), levels=SEVEN)
_above = world(names("P{}", 10), names("Face {}", 3), ("joy", "anger", "fear"), SEVEN)
_cells = world(names("w{}", 4), names("i{}.jpg", 6), ("joy", "anger", "fear"), FIVE)
_lists = world(names("r{}", 5), names("clip{}.wav", 12), levels=SEVEN)
_boxes = world(names("a{}", 5), names("post {} is here", 8), ("joy", "anger", "none"), YES_NO)
_waves = world(names("p{}", 6), names("st{}", 8), ("joy", "anger"), SEVEN)
_checked = world(names("s{}", 8), names("img_{}.jpg", 10), ("joy",), SEVEN)
_behind = world(("Coder A", "Coder B"), names("clip{}", 12), ("joy", "anger", "fear"), SEVEN)
_evaluators = tuple(
    Answer(stimulus, rater, label, value)
    for s, stimulus in enumerate(names("seg_{:03d}", 12))
    for r, rater in enumerate(names("Eval{:02d}F", 4))
    for label, value in (
        ("Emotion", ("happy", "sad", "angry")[(s + r * r) % 3]),
        ("Valence", float(1 + (s * 7 + r) % 5)),
        ("Arousal", float(1 + (s * 3 + r * 2) % 5)),
    )
)
_norms = world(
    names("Suj{:02d}", 8), ("alegria", "morte", "casa", "guerra", "mar", "sol"), levels=NINE
)
_logged = world(
    ("p01", "p02", "p03", "gpt-x", "llama-y"), names("v{}", 5), ("guilty?", "ashamed?"), SEVEN
)

TRIED = (
    Stranger(
        name="evaluators_above_three_questions",
        like="a speech corpus: evaluators in the first row, category and dimensions in the second",
        kind="crossed columns",
        write=text(
            "eval.csv",
            "Numb,Segment,Total,,,Eval01F,,,Eval02F,,,Eval03F,,,Eval04F,,\n"
            + as_text(
                [
                    ["", "ID", *("Emotion", "Valence", "Arousal") * 5],
                    *(
                        [str(n), stimulus, "happy", "3", "3"]
                        + [written(one.value) for one in of(_evaluators, stimulus=stimulus)]
                        for n, stimulus in enumerate(each(_evaluators, "stimulus"), start=1)
                    ),
                ]
            ),
        ),
        right=_evaluators,
    ),
    Stranger(
        name="norms_in_portuguese",
        like="norms of words: subjects in columns, frequency before and Média, DP, Mín, Máx behind",
        kind="names",
        write=csv(
            _norms,
            "s",
            {
                "Palavra": "{s}",
                "Freq_log10": lambda row: dotted(1 + row.s_n / 3),
                "{r}": ANSWERS,
                "Média": lambda row: dotted(_mean(_norms, row.s)),
                "DP": lambda row: dotted(1 + row.s_n / 7),
                "Mín": "1",
                "Máx": "9",
                "N": "8",
            },
            separator=";",
            encoding="latin-1",
        ),
        right=_norms,
    ),
    Stranger(
        name="participant_or_model",
        like="a log of people and language models: participant or model is filled",
        kind="guards",
        write=csv(
            _logged,
            "rsl",
            {
                "run_id": "r{n}",
                "stimulus_id": "{s}",
                "model": lambda row: "" if row.r.startswith("p") else row.r,
                "participant": lambda row: row.r if row.r.startswith("p") else "",
                "question": "{l}",
                "answer": ANSWERS,
                "latency_ms": lambda row: 900 + (row.n * 7919) % 2311,
            },
        ),
        right=_logged,
        kinds={"gpt-x": "model", "llama-y": "model"},
    ),
    Stranger(
        name="no_names_of_columns",
        like="rater, picture and answer without a row of names",
        kind="no header",
        write=text(
            "answers.csv",
            as_text([[*map(written, (a.rater, a.stimulus, a.value))] for a in _plain]),
        ),
        right=_plain,
    ),
    Stranger(
        name="names_in_two_rows",
        like="a spreadsheet: merged names of faces above those of emotions",
        kind="crossed columns",
        write=text(
            "sheet.csv",
            "Participant,Face 1,,,Face 2,,,Face 3,,\n"
            + as_text(
                [
                    ["", *("joy", "anger", "fear") * 3],
                    *table(_above, "r", {"p": "{r}", "{s} {l}": ANSWERS})[1:],
                ]
            ),
        ),
        right=_above,
    ),
    Stranger(
        name="json_in_cells",
        like="a web experiment: worker, image, and the answers as JSON in a cell",
        kind="nested objects",
        write=csv(
            _cells,
            "rs",
            {
                "worker": "{r}",
                "image": "{s}",
                "responses": Answers(lambda given: json.dumps({a.label: a.value for a in given})),
            },
        ),
        right=_cells,
    ),
    Stranger(
        name="ratings_in_a_cell",
        like="what all raters said of a sound in a cell, and nobody is named",
        kind="lists of annotations",
        write=csv(
            _lists,
            "s",
            {
                "stimulus": "{s}",
                "ratings": Answers(lambda given: " ".join(written(a.value) for a in given)),
            },
        ),
        right=_lists,
        anonymous=True,
        n_raters=60,
    ),
    Stranger(
        name="lists_of_nobody",
        like="JSON Lines: a text, and the labels that people gave it, without their names",
        kind="lists of annotations",
        write=as_json(
            "texts.jsonl",
            [
                {"text": stimulus, "ratings": [a.value for a in of(_lists, stimulus=stimulus)]}
                for stimulus in each(_lists, "stimulus")
            ],
            lines=True,
        ),
        right=_lists,
        anonymous=True,
        n_raters=60,
    ),
    Stranger(
        name="split_data_frame",
        like="JSON of a data frame: columns, index and data apart",
        kind="nested objects",
        write=as_json(
            "frame.json",
            {
                "columns": ["rater", "stimulus", "valence"],
                "index": list(range(len(_plain))),
                "data": [[a.rater, a.stimulus, a.value] for a in _plain],
            },
        ),
        right=_plain,
    ),
    Stranger(
        name="true_and_false",
        like="boxes of a crowd tool as TRUE and FALSE, beside the text",
        kind="votes",
        write=csv(
            _boxes,
            "rs",
            {
                "annotator": "{r}",
                "text": "{s}",
                "{l}": Answers(lambda given: "TRUE" if ticked(given[0]) else "FALSE"),
            },
        ),
        right=_boxes,
    ),
    Stranger(
        name="occasions_in_names",
        like="two occasions side by side: T1_joy, T1_anger, T2_joy, T2_anger",
        kind="crossed columns",
        apart="session",
        write=csv(
            _waves,
            "rs",
            {
                "participant": "{r}",
                "stimulus": "{s}",
                "T1_{l}": ANSWERS,
                "T2_{l}": Answers(lambda given: written(8 - float(given[0].value))),
            },
        ),
        right=(*_waves, *(a._replace(value=8 - float(a.value)) for a in _waves)),
    ),
    Stranger(
        name="checks_without_a_picture",
        like="a trial a row, and a check of attention that shows nothing",
        kind="guards",
        write=text(
            "trials.csv",
            as_text(
                table(
                    _checked,
                    "rsl",
                    {"subject": "{r}", "image": "{s}", "label": "{l}", "rating": ANSWERS},
                )
            )
            + "".join(f"{rater},,attention check,7\n" for rater in each(_checked, "rater")),
        ),
        right=_checked,
    ),
    Stranger(
        name="sheets_behind_remarks",
        like="a workbook: a sheet of remarks, then one for each coder",
        kind="workbooks",
        write=workbook(
            Info=[["Project", "Faces"], ["Contact", "the lab"]],
            **{
                coder: table(of(_behind, rater=coder), "s", {"clip": "{s}", "{l}": ANSWERS})
                for coder in each(_behind, "rater")
            },
        ),
        right=_behind,
    ),
    Stranger(
        name="times_in_german",
        like="an experiment in German: Bild, Vp, Emotion, Wert, Reaktionszeit",
        kind="names",
        write=csv(
            _seconds,
            "rsl",
            {
                "Bild": "{s}",
                "Vp": "{r}",
                "Emotion": "{l}",
                "Wert": ANSWERS,
                "Reaktionszeit": lambda row: 400 + (row.n * 7919) % 2311,
            },
            separator=";",
        ),
        right=_seconds,
    ),
    Stranger(
        name="what_the_body_did",
        like="a trial a row: clip, two ratings, pupil, skin and heart",
        kind="guards",
        write=csv(
            _skin,
            "rs",
            {
                "pid": "{r}",
                "trial": "{n}",
                "clip": "{s}",
                "{l}": ANSWERS,
                "mean_pupil": lambda row: 3 + (row.n * 37) % 100 / 100,
                "scr_amp": lambda row: (row.n * 53) % 97 / 100,
                "hr_bpm": lambda row: 60 + (row.n * 13) % 40,
            },
        ),
        right=_skin,
    ),
    Stranger(
        name="people_below_pictures",
        like="JSON: an object for each picture, of objects for each person",
        kind="nested objects",
        write=as_json(
            "ratings.json",
            {
                stimulus: {
                    rater: {
                        one.label: one.value for one in of(_below, stimulus=stimulus, rater=rater)
                    }
                    for rater in each(_below, "rater")
                }
                for stimulus in each(_below, "stimulus")
            },
        ),
        right=_below,
    ),
)

STRANGERS = (*LONG, *CROSSED, *EXPORTS, *TRIED, *CASES)

TODAY: dict[str, str] = {}
"""What happens today where a file is not read as it should be: a word for it, and a sentence."""
