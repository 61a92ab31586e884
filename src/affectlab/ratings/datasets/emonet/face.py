"""EmoNet-Face: 40 emotions of synthetic faces, rated by experts and by models."""

from __future__ import annotations

from pathlib import Path

from affectlab.ratings.datasets.common import read_family
from affectlab.ratings.datasets.emonet import binary as _emonet_face_binary
from affectlab.ratings.datasets.emonet import hq as _emonet_face_hq
from affectlab.ratings.datasets.emonet import scores as _emonet_face_scores
from affectlab.ratings.datasets.emonet import vlm as _emonet_face_vlm
from affectlab.ratings.files import OnBad
from affectlab.ratings.options import Absent
from affectlab.ratings.table import Ratings

__all__ = ["emonet_face"]


def emonet_face(
    path: str | Path,
    *,
    model: str | None = None,
    absent: Absent | None = None,
    on_bad: OnBad = "raise",
) -> Ratings:
    """Read a file of the EmoNet-Face suite.

    Parameters
    ----------
    path
        - ``binary.csv`` (path, annotator, value, emotion): yes/no answers of people.
        - ``hq.csv`` (image, annotator, human, annotations): intensities from 0 to 7, people and
          models together; ``annotations`` is a mapping of emotions to numbers.
        - the Parquet files of the Hugging Face hub, which :func:`load_dataset` fetches without
          the pictures in them: Binary with the columns of ``binary.csv``, or HQ with a row per
          picture (path, label), in which all who answered are people.
        - a JSON Lines file of model scores (image_path, results).
        - a JSON or JSON Lines file of answers of vision-language models (key, value).
    model
        Name of the model, for a file of model scores; the name of the file when not given.
    absent, on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        Labels are those of the taxonomy ``emonet_face``, under any of their published spellings.

        HQ and vision-language models: an emotion that a rater of a picture left out is rated 0, as
        in the paper (appendix A.3); the history counts such ratings. ``Extra Dimensions`` are set
        aside with their count. Numbers of ``Hume Face*`` are published from 0 to 1 and multiplied
        by 7, which the history says. The scale is 0 to 7, in steps of 1 when all numbers are whole.

        Model scores: the value is the raw score, which has no bounds; ``mean_subtracted`` and
        ``softmax`` stay beside it. The heads for arousal, dominance, valence and emotional
        vulnerability are none of the 40 emotions and are set aside with their count. An
        expression in the file name (``0000_Happy.jpg``) becomes the stimulus attribute
        ``expression``, a field ``label`` the attribute ``given_label``.

    Raises
    ------
    InputError
        When the file has none of these formats, a label is not in the taxonomy, a value is not
        understood or off the scale, or a line is cut.

    Notes
    -----
    Source: C. Schuhmann et al. (2025), EmoNet-Face, section 3. The layout of ``hq.csv`` and of the
    answers of vision-language models is that of the analysis and inference notebooks in the
    authors' repository (LAION-AI/emonet-face).

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "binary.csv"
    >>> _ = file.write_text("path,annotator,value,emotion\\n00000,human-1,True,Hopelessness\\n")
    >>> r = emonet_face(file)
    >>> r.label_names, r.value.tolist(), r.scale
    (('Helplessness',), [1.0], Scale('binary, 0 or 1'))
    """
    if model is not None:
        raters = {"rater": [model], "rater_kind": ["model"]}
        return read_family(
            path, (_emonet_face_scores.FORMAT,), absent=absent, on_bad=on_bad, raters=raters
        )
    return read_family(
        path,
        (
            _emonet_face_binary.FORMAT,
            _emonet_face_hq.FORMAT,
            _emonet_face_scores.FORMAT,
            _emonet_face_vlm.FORMAT,
        ),
        absent=absent,
        on_bad=on_bad,
    )
