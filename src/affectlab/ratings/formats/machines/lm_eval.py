"""Language Model Evaluation Harness: what a model answered to each document of a task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from affectlab.ratings.formats.answers import Answer, Answers, Place, Record
from affectlab.ratings.formats.format import Layout, file_format
from affectlab.ratings.formats.records import Unusable, shown

_SANITISED = "__"
"""What the harness writes in names of folders for the slash in the name of a model."""


class _Sample(Record):
    doc_id: int | str
    doc: Any
    target: Any
    arguments: dict[str, Any] | list[Any]
    filtered_resps: list[Any]
    filter: str = ""


@file_format(
    "lm-eval", "samples of lm-eval (JSONL: doc_id, doc, target, arguments, filtered_resps)"
)
class LmEvalSamples(Answers):
    """What the Language Model Evaluation Harness logs of each sample (``--log_samples``).

    A file ``samples_TASK_TIME.jsonl``. Of a multiple choice the answer is the continuation of the
    highest log-likelihood, of a generation its text after filtering; several filters are labels.
    The model is not named in the file: it is the folder that the harness names after it, or else
    the file. Fields of the document and the target describe the stimulus.

    Log-likelihoods of single texts are left out and counted.

    Notes
    -----
    Source: the documentation and the ``EvaluationTracker`` of lm-evaluation-harness.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> sample = {"doc_id": 0, "doc": {"text": "such a day!"}, "target": "0",
    ...           "arguments": {"gen_args_0": {"arg_0": "…", "arg_1": " joy"},
    ...                         "gen_args_1": {"arg_0": "…", "arg_1": " fear"}},
    ...           "filtered_resps": [["-0.2", "True"], ["-1.7", "False"]], "filter": "none"}
    >>> file = Path(tempfile.mkdtemp()) / "samples_emotions.jsonl"
    >>> _ = file.write_text(json.dumps(sample) + "\\n")
    >>> r = read_ratings(file)
    >>> r.rater_kinds, r.scale.categories, r.value.tolist()
    (('model',), ('joy', 'fear'), [0.0])
    """

    record = _Sample
    layout = Layout(
        {
            "stimulus": "doc_id",
            "rater": "name of the folder or the file",
            "label": "filter",
            "value": "filtered_resps",
        },
        stimuli=("doc", "target"),
        others=("arguments",),
        unused={"resps": "replies before filtering", "metrics": "they are about the answers"},
    )

    def answers_of(self, record: _Sample, at: Place) -> Iterable[Answer]:
        folder = at.head.path.parent.name
        if not record.filtered_resps:
            raise Unusable("no reply")
        options: tuple[str, ...] = ()
        if all(isinstance(one, list) for one in record.filtered_resps):
            if len(record.filtered_resps) == 1:
                raise Unusable("log-likelihood of a single text")
            options = _continuations(record.arguments)
            chosen = _likeliest(record.filtered_resps, options)
        else:
            chosen = str(record.filtered_resps[0]).strip()
        named = at.options.rater or (folder if _SANITISED in folder else at.rater)
        about = record.doc if isinstance(record.doc, dict) else {"doc": record.doc}
        yield Answer(
            stimulus=str(record.doc_id),
            rater=named.replace(_SANITISED, "/"),
            kind="model",
            question=record.filter,
            given=(chosen,),
            options=options,
            about={**about, "target": record.target},
        )


def _continuations(arguments: dict[str, Any] | list[Any]) -> tuple[str, ...]:
    """Give the continuations whose likelihoods were compared."""
    calls = arguments.values() if isinstance(arguments, dict) else arguments
    found = []
    for call in calls:
        parts = list(call.values()) if isinstance(call, dict) else call
        if not isinstance(parts, list) or len(parts) < 2 or not str(parts[1]).strip():
            raise Unusable("arguments not understood", f"{shown(call)}; expected two arguments")
        found.append(str(parts[1]).strip())
    return tuple(found)


def _likeliest(replies: list[list[Any]], options: tuple[str, ...]) -> str:
    """Give the option of the highest log-likelihood."""
    try:
        likelihoods = [float(reply[0]) for reply in replies]
    except (TypeError, ValueError, IndexError):
        raise Unusable(
            "log-likelihood not understood", f"{shown(replies)}; expected numbers"
        ) from None
    if len(likelihoods) != len(options):
        raise Unusable(
            "likelihoods and arguments differ in number",
            f"{len(likelihoods)} likelihoods and {len(options)} arguments; expected as many",
        )
    return options[max(range(len(options)), key=likelihoods.__getitem__)]
