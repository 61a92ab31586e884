"""Readers of published data sets, one module each.

:func:`affectlab.ratings.read_ratings` recognises these formats by itself. The functions here read
one family of files and say in their documentation what becomes of each field.
"""

from affectlab.ratings._formats import Format
from affectlab.ratings.datasets import (
    _emonet_face_binary,
    _emonet_face_hq,
    _emonet_face_scores,
    _emonet_face_vlm,
    _face_expressions,
    _goemotions_raw,
    _goemotions_simplified,
    _isear,
    _mturk,
    _score_matrix,
    _socratis,
    _sureal,
)
from affectlab.ratings.datasets._emonet_face import emonet_face
from affectlab.ratings.datasets._face_expressions import face_expressions
from affectlab.ratings.datasets._goemotions import goemotions
from affectlab.ratings.datasets._isear import isear
from affectlab.ratings.datasets._mturk import mturk
from affectlab.ratings.datasets._score_matrix import score_matrix
from affectlab.ratings.datasets._socratis import socratis
from affectlab.ratings.datasets._sureal import sureal

__all__ = [
    "FORMATS",
    "emonet_face",
    "face_expressions",
    "goemotions",
    "isear",
    "mturk",
    "score_matrix",
    "socratis",
    "sureal",
]

FORMATS: tuple[Format, ...] = (
    _goemotions_raw.FORMAT,
    _emonet_face_hq.FORMAT,
    _emonet_face_binary.FORMAT,
    _face_expressions.FORMAT,
    _isear.FORMAT,
    _mturk.FORMAT,
    _emonet_face_scores.FORMAT,
    _emonet_face_vlm.FORMAT,
    _sureal.FORMAT,
    _socratis.FORMAT,
    _goemotions_simplified.FORMAT,
    _score_matrix.FORMAT,
)
"""Formats in the order in which they are tried; those with a header of their own come first."""
