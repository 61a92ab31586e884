"""GoEmotions: 58 thousand comments, 27 emotions and neutral."""

from __future__ import annotations

from pathlib import Path

from affectlab.ratings.datasets import goemotions_raw as _goemotions_raw
from affectlab.ratings.datasets import goemotions_simplified as _goemotions_simplified
from affectlab.ratings.datasets.common import read_family
from affectlab.ratings.files import OnBad
from affectlab.ratings.table import Ratings

__all__ = ["goemotions"]


def goemotions(path: str | Path, *, on_bad: OnBad = "raise") -> Ratings:
    """Read a file of the GoEmotions data set.

    Parameters
    ----------
    path
        A raw part (CSV with a header; one row per rater and comment, 28 columns of 0 and 1), or a
        simplified split (``train.tsv``, ``dev.tsv``, ``test.tsv``: text, label numbers, comment).
        Either may be the Parquet file of the Hugging Face hub, which :func:`load_dataset` fetches.
    on_bad
        ``"raise"`` or ``"set_aside"``, as in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        Binary answers to each of the 28 labels of the taxonomy ``goemotions``; stimuli are
        comments, with their text (and, in raw parts, subreddit, time, author, link and parent).

        Raw parts: a rater who ticked *example very unclear* chose no label. That says nothing
        about the labels, so these rows have no value and the outcome ``refused``; statistics leave
        them out, and the column ``unclear`` keeps them countable. The answers are the pairs of
        stimulus and rater.

        Simplified splits: the one rater ``consensus`` (attribute ``aggregated``) stands for all
        people who read the comment: labels that at least two of them chose are 1. Agreement
        between raters cannot be computed from these files.

    Raises
    ------
    InputError
        When the file is in neither format; for a missing column, a cell that is not 0 or 1, a
        label number above 27, or a line with too few or too many fields.

    Notes
    -----
    Source: D. Demszky et al. (2020), GoEmotions: a dataset of fine-grained emotions, section 3.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.tsv"
    >>> _ = file.write_text('He said "wow"\\t0,26\\teebbqej\\n')
    >>> r = goemotions(file)
    >>> r.frame.filter(r.frame["value"] == 1)["label"].to_list(), r.stimuli["text"][0]
    (['admiration', 'surprise'], 'He said "wow"')
    """
    return read_family(path, (_goemotions_raw.FORMAT, _goemotions_simplified.FORMAT), on_bad=on_bad)
