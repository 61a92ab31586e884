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
    "iemocap": (
        "% [START_TIME - END_TIME] TURN_NAME EMOTION [V, A, D]\n\n"
        "[6.29 - 8.23]\tSes01F_impro01_F000\tneu\t[2.5, 2.5, 2.5]\n"
        "C-E2:\tNeutral;\t()\nC-E3:\tSadness; Neutral;\t()\n"
        "A-E2:\tval 3; act 2; dom 2;\t()\nA-E3:\tval 2; act 3; dom  3;\t()\n\n"
        "[10.01 - 11.39]\tSes01F_impro01_F001\txxx\t[3.0, 2.5, 2.0]\n"
        "C-E2:\tSadness;\t()\nC-F1:\tAnger;\t()\nA-E2:\tval 3; act 3; dom 2;\t()\n"
    ),
    "crowd-kit": "task,worker,label\nt1,w1,joy\nt1,w2,fear\nt2,w1,joy\n",
}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"run_id": "r", "task": "emotions", "model": "lab/tiny", "created": "2026-01-02"},
    "samples": [
        {
            "id": name,
            "epoch": epoch,
            "input": text,
            "choices": ["joy", "fear"],
            "target": target,
            "output": {"completion": reply, "choices": [{"stop_reason": "stop"}]},
            "scores": {"choice": {"value": value, "answer": answer, "reason": reason}},
            "metadata": {"group": "x"},
            "completed_at": "2026-01-02T10:00:00+00:00",
            "total_time": 0.5,
        }
        for name, epoch, text, target, reply, value, answer, reason in (
            ("a", 1, "such a day!", "A", "ANSWER: A", "C", "A", None),
            ("b", 1, "still dark", "B", "ANSWER: A", "I", "A", None),
            ("a", 2, "such a day!", "A", "dunno", "I", "", "invalid_response_format"),
        )
    ],
}
LM_EVAL = [
    {
        "doc_id": number,
        "doc": {"text": text, "label": number},
        "target": str(number),
        "arguments": {
            f"gen_args_{k}": {"arg_0": text, "arg_1": f" {word}"}
            for k, word in enumerate(("joy", "fear"))
        },
        "resps": [[likelihoods[0]], [likelihoods[1]]],
        "filtered_resps": likelihoods,
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    }
    for number, text, likelihoods in (
        (0, "such a day!", [["-0.2", "True"], ["-1.7", "False"]]),
        (1, "still dark", [["-0.9", "True"], ["-0.3", "False"]]),
    )
]
MTEB = {
    "dataset_revision": "4f58c6b202a23cf9a4da393831edf4f9183cad37",
    "task_name": "EmotionClassification",
    "mteb_version": "2.1.0",
    "scores": {
        "test": [
            {"accuracy": 0.47, "f1": 0.43, "main_score": 0.47, "hf_subset": "default"},
        ],
        "validation": [{"accuracy": 0.5, "main_score": 0.5, "hf_subset": "default"}],
    },
    "evaluation_time": 3.2,
}
PIPELINE = [
    [{"label": "joy", "score": 0.75}, {"label": "fear", "score": 0.25}],
    [{"label": "fear", "score": 0.6}, {"label": "joy", "score": 0.4}],
]
POTATO = [
    {
        "instance_id": instance,
        "user_id": user,
        "labels": {
            "emotion": {emotion: "1"},
            "signs": dict.fromkeys(signs, "true"),
            "intensity": {f"scale_{level}": str(level)},
            "why": {"text_box": "the sun"},
        },
        "spans": {"cue": [{"start": 0, "end": 4, "label": "cue"}]} if level == 5 else {},
        "links": {},
    }
    for instance, user, emotion, signs, level in (
        ("i1", "ann", "joy", ("smile", "tears"), 5),
        ("i1", "bo", "fear", ("smile",), 2),
        ("i2", "ann", "joy", ("tears",), 4),
    )
]
TOOLS |= {
    "best-worst": (
        "item1,item2,item3,item4,best,worst,judge\na,b,c,d,b,c,ann\nb,c,d,e,d,b,ann\na,b,c,d,b,a,bo\n"
    ),
    "pairs": "left,right,choice,judge\nx,y,x,ann\ny,x,left,bo\nx,y,tie,cy\n",
    "potato": lines(*POTATO),
    "potato-table": (
        "instance_id,user_id,emotion.joy,emotion.fear,intensity.scale_2,intensity.scale_5,"
        "cue._spans\n"
        'i1,ann,1,,,5,"[{""start"": 0}]"\ni1,bo,,2,2,,[]\ni2,ann,1,,2,,[]\n'
    ),
    "inspect": json.dumps(INSPECT, indent=2),
    "lm-eval": lines(*LM_EVAL),
    "mteb": json.dumps(MTEB),
    "pipeline": json.dumps(PIPELINE),
    "predictions": json.dumps({"predictions": ["joy", "fear"], "references": ["joy", "joy"]}),
    "face-scores": (
        "img_path,dominant_emotion,face_confidence,emotion.angry,emotion.happy,emotion.sad\n"
        "a.jpg,sad,0.9,20.5,9.5,70.0\nb.jpg,happy,0.8,1.0,98.0,1.0\n"
    ),
    "vader": "id,neg,neu,pos,compound\na,0.0,0.3,0.7,0.64\nb,0.5,0.5,0.0,-0.5\n",
    "openface": (
        "frame, face_id, timestamp, confidence, success, pose_Tx, AU01_r, AU12_r, AU01_c\n"
        "1, 0, 0.0, 0.98, 1, 3.5, 2.5, 0.25, 1\n"
        "2, 0, 0.04, 0.2, 0, 0, 0, 0, 0\n"
        "3, 0, 0.08, 0.97, 1, 3.5, 5.0, 0.0, 0\n"
    ),
    "py-feat": (
        "FaceRectX,FaceScore,x_0,AU01,anger,happiness,input,frame\n"
        "10.5,0.99,1,0.3,0.1,0.8,a.jpg,0\n12.5,0.98,2,0.1,0.6,0.2,b.jpg,0\n"
        ",,,,,,c.jpg,0\n"
    ),
}
