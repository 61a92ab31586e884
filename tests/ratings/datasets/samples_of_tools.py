"""Small files as tools of annotation and programs that run models write them."""

from __future__ import annotations

import json
from typing import Any


def lines(*entries: Any) -> str:
    """Write entries as JSON Lines."""
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def choice(question: str, *chosen: str) -> dict[str, Any]:
    """Make a result of Label Studio for a choice."""
    return {
        "type": "choices",
        "from_name": question,
        "to_name": "text",
        "value": {"choices": list(chosen)},
    }


def rating(number: int) -> dict[str, Any]:
    """Make a result of Label Studio for a rating."""
    return {"type": "rating", "from_name": "intensity", "value": {"rating": number}}


SPAN = {
    "type": "labels",
    "from_name": "cue",
    "value": {"start": 0, "end": 4, "text": "such", "labels": ["cue"]},
}
LABEL_STUDIO = [
    {
        "id": 1,
        "data": {"text": "such a day!"},
        "annotations": [
            {
                "result": [choice("emotion", "joy"), rating(6), SPAN],
                "completed_by": 1,
                "lead_time": 4.25,
                "created_at": "2026-01-02T10:00:00Z",
                "ground_truth": False,
            },
            {"result": [choice("emotion", "fear")], "completed_by": {"email": "bo@lab"}},
            {"result": [], "completed_by": 1, "was_cancelled": True},
        ],
        "predictions": [{"result": [choice("emotion", "joy")], "model_version": "m", "score": 0.8}],
    },
    {
        "id": 2,
        "data": {"text": "still dark"},
        "annotations": [{"result": [choice("emotion", "fear"), rating(2)], "completed_by": 1}],
    },
]
LABEL_STUDIO_CSV = (
    '"annotation_id","annotator","created_at","emotion","id","intensity","lead_time","signs",'
    '"span","text","updated_at"\n'
    '11,"1","2026-01-02","joy",1,"[{""rating"":6}]",4.25,"smile",'
    '"[{""start"":0,""end"":4,""labels"":[""cue""]}]","such a day!","2026-01-02"\n'
    '12,"2","2026-01-02","fear",1,"[{""rating"":2}]",3.5,"{""choices"":[""smile"",""tears""]}",'
    '"","such a day!","2026-01-02"\n'
    '13,"1","2026-01-02","fear",2,"[{""rating"":5}]",4,"tears","","still dark","2026-01-02"\n'
)
ARGILLA = [
    {
        "id": "r1",
        "status": "completed",
        "_server_id": None,
        "text": "such a day!",
        "source": "web",
        "emotion.responses": ["joy", "fear"],
        "emotion.responses.users": ["u1", "u2"],
        "emotion.responses.status": ["submitted", "draft"],
        "signs.responses": [["smile"], ["smile", "tears"]],
        "signs.responses.users": ["u1", "u2"],
        "signs.responses.status": ["submitted", "submitted"],
        "emotion.suggestion": "joy",
        "emotion.suggestion.score": 0.8,
        "emotion.suggestion.agent": "tiny",
        "span.responses": [[{"start": 0, "end": 3, "label": "cue"}]],
        "span.responses.users": ["u1"],
        "span.responses.status": ["submitted"],
    },
    {
        "id": "r2",
        "status": "completed",
        "_server_id": None,
        "text": "still dark",
        "source": None,
        "emotion.responses": ["fear"],
        "emotion.responses.users": ["u1"],
        "emotion.responses.status": ["submitted"],
        "emotion.suggestion": None,
    },
]
DOCCANO = [
    {"id": 1, "text": "such a day!", "batch": "a", "label": ["joy"], "Comments": ["sure?"]},
    {"id": 2, "text": "still dark", "batch": "b", "label": ["fear", "sadness"], "Comments": []},
    {"id": 3, "text": "no", "batch": "b", "label": [], "Comments": []},
    {"id": 4, "text": "a cue", "batch": "b", "label": [[2, 5, "cue"]], "Comments": []},
]
PRODIGY = [
    {
        "text": text,
        "_input_hash": number,
        "_task_hash": 10 * number,
        "options": [{"id": "joy", "text": "Joy"}, {"id": "fear", "text": "Fear"}],
        "accept": accept,
        "answer": answer,
        "_annotator_id": rater,
        "_session_id": rater,
        "_timestamp": 1767348000 + number,
        "_view_id": "choice",
        "config": {"choice_style": "single"},
        "meta": {"source": "web"},
    }
    for text, number, accept, answer, rater in (
        ("such a day!", 1, ["joy"], "accept", "ann"),
        ("such a day!", 1, ["fear"], "accept", "bo"),
        ("still dark", 2, [], "ignore", "ann"),
    )
]
TOOLS = {
    "label-studio": json.dumps(LABEL_STUDIO),
    "label-studio-min": LABEL_STUDIO_CSV,
    "argilla": lines(*ARGILLA),
    "doccano": lines(*DOCCANO),
    "prodigy": lines(*PRODIGY),
    "crowd-kit": "task,worker,label\nt1,w1,joy\nt1,w2,fear\nt2,w1,joy\n",
}
