"""The published data sets: where each stands, under which licence, and which reader reads it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.result import Result
from affectlab.core.tables import Key, Table, Text, YesNo

__all__ = ["PublishedSet", "find_dataset", "list_datasets", "published_sets"]

_GOEMOTIONS = "google-research-datasets/go_emotions"
_GOEMOTIONS_LICENCE = "Apache-2.0 by its card on the hub; CC BY 4.0 by the authors' repository"
_GOEMOTIONS_CITED = (
    "D. Demszky, D. Movshovitz-Attias, J. Ko, A. Cowen, G. Nemade, S. Ravi (2020). GoEmotions: a "
    "dataset of fine-grained emotions. ACL."
)
_EMONET_CITED = (
    "C. Schuhmann, R. Kaczmarczyk, G. Rabby, F. Friedrich, M. Kraus, K. Kalyan, K. Nadi, "
    "H. Nguyen, K. Kersting, S. Auer (2025). EmoNet-Face: an expert-annotated benchmark for "
    "synthetic emotion recognition. arXiv:2505.20033."
)
_EMONET_ELSEWHERE = "github.com/LAION-AI/emonet-face, folder data"
_PAIRS = "affectlab.analysis.pair_scores"
_IMAGES = "affectlab.models.images.read_labelled_images"


@dataclass(frozen=True)
class PublishedSet:
    """A published data set, and how it is read."""

    name: str
    """Short name, for :func:`load_dataset`."""
    what: str
    """What it holds, in a few words."""
    hub: str | None
    """Its name on the Hugging Face hub; None: its authors have not put it there."""
    configuration: str | None
    """Which of the configurations that the hub has under this name."""
    reader: str
    """Format of :func:`affectlab.ratings.list_formats`, or function, that reads it."""
    columns: tuple[str, ...]
    """Columns that the reader needs of the hub's copy."""
    licence: str
    """Licence, as far as its authors say."""
    citation: str
    """What to cite."""
    elsewhere: str
    """Where its files are published beside the hub, or instead."""
    splits: tuple[str, ...] = ("train",)
    """Its splits, by the names that the hub has."""
    note: str = ""
    """What a reader of the hub's copy should know."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which it is found."""
        return (self.name,) if self.hub is None else (self.name, self.hub)


_SETS = (
    PublishedSet(
        name="goemotions-raw",
        what="211,225 answers of 82 raters to 58 thousand comments, 27 emotions and neutral",
        hub=_GOEMOTIONS,
        configuration="raw",
        reader="goemotions-raw",
        columns=("id", "rater_id", "example_very_unclear", "text"),
        licence=_GOEMOTIONS_LICENCE,
        citation=_GOEMOTIONS_CITED,
        elsewhere="github.com/google-research/google-research, folder goemotions",
        note="the hub's copy keeps created_utc in single precision: times are off by up to 64 s",
    ),
    PublishedSet(
        name="goemotions-simplified",
        what="54 thousand comments with the labels that two raters agreed on",
        hub=_GOEMOTIONS,
        configuration="simplified",
        reader="goemotions-simplified",
        columns=("text", "labels", "id"),
        licence=_GOEMOTIONS_LICENCE,
        citation=_GOEMOTIONS_CITED,
        elsewhere="github.com/google-research/google-research, folder goemotions/data",
        splits=("train", "validation", "test"),
    ),
    PublishedSet(
        name="emonet-face-hq",
        what="intensities of 40 emotions of 2,500 drawn faces, by experts",
        hub="laion/emonet-face-hq",
        configuration=None,
        reader="emonet-face-hq",
        columns=("path", "label"),
        licence="CC BY 4.0",
        citation=_EMONET_CITED,
        elsewhere=f"{_EMONET_ELSEWHERE}, as hq.csv",
        note="the hub's copy holds the answers of people; those of models are in hq.csv",
    ),
    PublishedSet(
        name="emonet-face-binary",
        what="yes/no answers of experts about 19,999 drawn faces, 40 emotions",
        hub="laion/emonet-face-binary",
        configuration=None,
        reader="emonet-face-binary",
        columns=("path", "annotator", "value", "emotion"),
        licence="CC BY 4.0",
        citation=_EMONET_CITED,
        elsewhere=f"{_EMONET_ELSEWHERE}, as binary.csv",
    ),
    PublishedSet(
        name="socratis",
        what="18 thousand free reactions to 2,075 images with captions",
        hub=None,
        configuration=None,
        reader="socratis",
        columns=(),
        licence="that of the release; the images belong to others",
        citation="K. Deng, A. Ray, R. Tan, S. Gabriel, B. A. Plummer, K. Saenko (2023). Socratis: "
        "are large multimodal models emotionally aware? arXiv:2308.16741.",
        elsewhere="the project page kdeng55.github.io/socratis-website",
    ),
    PublishedSet(
        name="face-expressions-70k",
        what="scores of how different two expressions look, 70,500 pairs (metadata.csv); the "
        "judgements behind them were not published",
        hub=None,
        configuration=None,
        reader=_PAIRS,
        columns=(),
        licence="none is stated in the repository",
        citation="A. Saha, Y.-C. Chen, J.-C. Bazin, C. Häne, I. Katsavounidis, A. Chapiro, "
        "A. C. Bovik (2025). FaceExpressions-70k: a dataset of perceived expression differences. "
        "SIGGRAPH. doi:10.1145/3721238.3730653.",
        elsewhere="github.com/avinabsaha/face-expressions-70k, whose README says where the "
        "pictures are",
    ),
    PublishedSet(
        name="emoset",
        what="118,102 images with one of 8 emotions",
        hub=None,
        configuration=None,
        reader=_IMAGES,
        columns=(),
        licence="for research, by its authors' terms",
        citation="J. Yang et al. (2023). EmoSet: a large-scale visual emotion dataset with rich "
        "attributes. ICCV.",
        elsewhere="the project page of EmoSet",
    ),
    PublishedSet(
        name="fi",
        what="23,308 images with one of 8 emotions",
        hub=None,
        configuration=None,
        reader=_IMAGES,
        columns=(),
        licence="for research, by its authors' terms",
        citation="Q. You, J. Luo, H. Jin, J. Yang (2016). Building a large scale dataset for image "
        "emotion recognition: the fine print and the benchmark. AAAI.",
        elsewhere="its authors, on request",
    ),
    PublishedSet(
        name="emotic",
        what="images of people in their surroundings with 26 emotions",
        hub=None,
        configuration=None,
        reader=_IMAGES,
        columns=(),
        licence="for research, by its authors' terms",
        citation="R. Kosti, J. M. Alvarez, A. Recasens, A. Lapedriza (2019). Context based emotion "
        "recognition using EMOTIC dataset. IEEE TPAMI.",
        elsewhere="github.com/rkosti/emotic, on request",
    ),
)


def list_datasets() -> tuple[PublishedSet, ...]:
    """Give the published data sets that affectlab knows, on the Hugging Face hub and elsewhere.

    Examples
    --------
    >>> found = {entry.name: entry for entry in list_datasets()}
    >>> found["goemotions-raw"].hub, found["goemotions-raw"].configuration
    ('google-research-datasets/go_emotions', 'raw')
    >>> [entry.name for entry in list_datasets() if entry.hub is None][:2]
    ['socratis', 'face-expressions-70k']
    """
    return _SETS


def published_sets() -> Result:
    """List the published data sets: what they hold, where they are, and their licences.

    Returns
    -------
    A row for each set, with the fields of :class:`PublishedSet`, and ``on_hub``.

    Examples
    --------
    >>> published_sets().to_frame()["name"].to_list()[:2]
    ['goemotions-raw', 'goemotions-simplified']
    """
    frame = pl.DataFrame([asdict(entry) for entry in _SETS])
    frame = frame.with_columns(
        pl.col("columns", "splits").list.join(", "), on_hub=pl.col("hub").is_not_null()
    )
    columns = (
        Key("name"),
        Text("what"),
        YesNo("on_hub", "on the hub"),
        Text("hub", "its name there", spare=True),
        Text("splits", spare=True),
        Text("elsewhere", "published at", spare=True),
        Text("licence"),
    )
    return Result(
        (Table("sets", "Published data sets.", frame, columns),),
        (
            f"{frame['on_hub'].sum()} of {frame.height} sets are on the Hugging Face hub, and can "
            "be fetched: affectlab ratings fetch NAME --out FILE, with --split where there are "
            "several.",
        ),
    )


def find_dataset(name: str, configuration: str | None = None) -> PublishedSet | None:
    """Find a published data set by its short name, or by its name on the hub.

    Parameters
    ----------
    name
        Of :func:`list_datasets`, or of the hub; case does not matter.
    configuration
        Which one, where the hub has several sets under one name.

    Returns
    -------
    PublishedSet or None
        None when it is a name on the hub that is not listed.

    Raises
    ------
    InputError
        When a short name is not known, or a name on the hub has several configurations.

    Examples
    --------
    >>> find_dataset("laion/emonet-face-hq").name
    'emonet-face-hq'
    >>> find_dataset("anna/my-ratings") is None
    True
    """
    wanted = name.casefold()
    found = [entry for entry in _SETS if wanted in map(str.casefold, entry.names)]
    if not found:
        if "/" in name:
            return None
        raise unknown_name("data set", name, [entry.name for entry in _SETS])
    if configuration is not None:
        fitting = [entry for entry in found if (entry.configuration or "default") == configuration]
        known = [entry.configuration or "default" for entry in found]
        if not fitting:
            raise unknown_name("configuration", configuration, known, name)
        return fitting[0]
    if len(found) > 1:
        choices = " or ".join(f"'{entry.name}' ({entry.what})" for entry in found)
        raise InputError(f"{name} holds several sets; expected one of them: {choices}")
    return found[0]
