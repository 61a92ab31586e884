"""Pictures of results, as verbs and recipes write them: what is drawn, its name and its words."""

from affectlab.report.pictures.expressions import pictures_of_expressions, pictures_of_spread
from affectlab.report.pictures.jnd import picture_of_jnd_times
from affectlab.report.pictures.picture import Picture, pictures_of, save_pictures
from affectlab.report.pictures.reactions import pictures_of_reactions
from affectlab.report.pictures.transitions import pictures_of_transitions

__all__ = [
    "Picture",
    "picture_of_jnd_times",
    "pictures_of",
    "pictures_of_expressions",
    "pictures_of_reactions",
    "pictures_of_spread",
    "pictures_of_transitions",
    "save_pictures",
]
