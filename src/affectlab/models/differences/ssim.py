"""Structural similarity, turned round into a difference."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import MissingDependencyError
from affectlab.core.types import Floats
from affectlab.models.differences.metric import Missing, PreparedMetric
from affectlab.models.differences.pixels import check_size, check_yes_no, pixels_of, sizes_of

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["SsimDifference", "ssim"]

_WINDOW = 11
_SIGMA = 1.5


class SsimDifference(PreparedMetric):
    """1 - SSIM; made by :func:`ssim`."""

    name = "ssim"

    def __init__(self, *, size: Any, grey: Any) -> None:
        self._size = check_size(size, self.name)
        self._grey = check_yes_no(grey, "grey", self.name)
        self.settings = {"size": self._size, "grey": self._grey}

    @cached_property
    def version(self) -> str:  # type: ignore[override]
        """Version of scikit-image."""
        try:
            return f"scikit-image {version('scikit-image')}"
        except PackageNotFoundError:
            raise _not_installed() from None

    def prepare(self, pictures: Sequence[Image.Image]) -> list[NDArray[np.uint8] | Missing]:
        """Give the pixels of each picture."""
        return [self._pixels(picture) for picture in pictures]

    def _pixels(self, picture: Image.Image) -> NDArray[np.uint8] | Missing:
        found = pixels_of(picture, self._size, grey=self._grey)
        if min(found.shape[:2]) < _WINDOW:
            return Missing(
                f"a picture of {found.shape[1]} x {found.shape[0]} pixels is smaller than the "
                f"window of SSIM; expected {_WINDOW} on each side"
            )
        return found

    def apart(self, first: Any, second: Any) -> str:
        """Say that two pictures are not of one size."""
        return sizes_of(first, second)

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Give 1 - SSIM of each pair, 0 to 2; shape (n,)."""
        from affectlab.models.embedding.jobs import threads_of

        try:
            from skimage import metrics
        except ImportError as missing:
            raise _not_installed() from missing
        structural_similarity: Any = metrics.structural_similarity

        def similarity(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
            found: float = structural_similarity(
                one,
                other,
                data_range=255,
                channel_axis=None if self._grey else 2,
                gaussian_weights=True,
                sigma=_SIGMA,
                use_sample_covariance=False,
            )
            return found

        # Its filters let other threads run.
        with ThreadPoolExecutor(threads_of()) as pool:
            return 1 - np.array(list(pool.map(similarity, first, second)), dtype=np.float64)


def _not_installed() -> MissingDependencyError:
    return MissingDependencyError(f"the metric ssim needs scikit-image: {install_line('vision')}")


def ssim(size: int | None = None, grey: bool = True) -> SsimDifference:
    r"""Structural similarity (Wang et al. 2004), turned round: :math:`1 - \mathrm{SSIM}`.

    SSIM itself is 1 for the same pictures and falls as they differ; the correlations of
    FaceExpressions-70k, Table 2, are those of the similarity and have the opposite sign. Computed
    by scikit-image with the Gaussian windows of the paper, 11 pixels wide, standard deviation 1.5.

    Parameters
    ----------
    size
        Longer side in pixels to which larger pictures are made smaller; None: as they are. The
        size matters: details of 11 pixels are what is compared.
    grey
        Compare the luma, as Wang et al. do; False: the mean over the three colours.

    Raises
    ------
    InputError
        When a setting cannot be used.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> faces = [draw_face("joy", intensity, size=64) for intensity in (0, 0.3, 1)]
    >>> same, little, much = ssim().differences([faces[0]] * 3, faces)
    >>> same, bool(0 < little < much)
    (np.float64(0.0), True)
    """
    return SsimDifference(size=size, grey=grey)
