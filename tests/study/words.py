"""Studies that ask for words, for one of two options, or run a page of their own; and answering."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from affectlab.study.delivery.answers import Submission
from affectlab.study.service import Service
from affectlab.study.store import Store

Maker = Callable[..., Store]
Begin = Callable[..., tuple[Service, str, dict[str, Any]]]

REACTION = """
[study]
name = "reactions"
title = "What do people feel?"
[protocol]
name = "reaction"
[stimuli]
table = "captions.csv"
folder = "pictures"
[sessions]
trials = 3
raters = 6
[recruitment]
bonus = 0.1
"""

PREFERENCE = """
[study]
name = "preferences"
title = "Which is better?"
[protocol]
name = "preference"
[stimuli]
table = "pairs.csv"
folder = "pictures"
[sessions]
trials = 4
raters = 3
"""

OWN_PAGE = """
[study]
name = "own-page"
title = "Step by step"
[protocol]
name = "jspsych"
[stimuli]
table = "words.csv"
folder = "pictures"
[frame]
folder = "timeline"
scripts = ["timeline.js"]
columns = ["kind"]
largest_kb = 20
[sessions]
trials = 2
raters = 2
"""

CAPTIONS = """stimulus,file,text
p0,p0.png,The keeper leaves the island.
p1,p1.png,The playground closes on Monday.
p2,p2.png,She turns 108 today.
"""

PAIRS = """stimulus,file,text,option_a,option_b,system_a,system_b
q0,p0.png,Why sad?,Nobody thanks her.,It is a rock.,human,net
q1,p1.png,Why angry?,It is autumn.,No place to play.,net,human
q2,p2.png,Why glad?,The valley came.,There is cake.,human,net
q3,,Why curious?,It is red.,What does it say?,net,human
"""

WORDS = """stimulus,text,kind,secret
w0,harbour,place,11
w1,thunder,weather,22
"""

TIMELINE = "affectlab.finish([{ word: affectlab.stimulus.texts[0] }]);\n"


def files(folder: Path, **texts: str) -> None:
    """Write the tables, pictures and scripts that the studies name; `texts` instead of some."""
    (folder / "pictures").mkdir(exist_ok=True)
    for number, color in enumerate(("navy", "olive", "maroon", "teal")):
        Image.new("RGB", (60, 40), color).save(folder / "pictures" / f"p{number}.png")
    (folder / "timeline").mkdir(exist_ok=True)
    known = {"captions.csv": CAPTIONS, "pairs.csv": PAIRS, "words.csv": WORDS}
    known |= {"timeline/timeline.js": TIMELINE}
    for name, text in {**known, **{k.replace("__", "/"): v for k, v in texts.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")


def entry(emotion: str, reason: str = "Because the picture says so.") -> dict[str, str]:
    """One emotion with its reason."""
    return {"emotion": emotion, "reason": reason}


def submit(state: Mapping[str, Any], answer: dict[str, Any], key: str | None = None) -> Submission:
    """Answer the trial of a state."""
    trial = state["trial"]
    return Submission(int(trial["id"]), answer, key or uuid.uuid4().hex, trial["widget"], 1200)


def name_of(store: Store, state: Mapping[str, Any]) -> str:
    """Name of the stimulus that a state shows, which participants never get."""
    from sqlalchemy import select

    from affectlab.study.tables import trials

    with store.database.read() as connection:
        number = connection.execute(
            select(trials.c.stimulus_id).where(trials.c.id == int(state["trial"]["id"]))
        ).scalar_one()
    return str(store.content[number]["name"])


def table(store: Store, *columns: Any) -> list[Any]:
    """Rows of the database."""
    from sqlalchemy import select

    with store.database.read() as connection:
        return [tuple(row) for row in connection.execute(select(*columns))]
