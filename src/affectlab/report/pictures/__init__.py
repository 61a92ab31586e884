"""Pictures of results, as verbs and recipes write them: what is drawn, its name and its words."""

from affectlab.report.pictures.picture import Picture, pictures_of, save_pictures

__all__ = [
    "Picture",
    "pictures_of",
    "save_pictures",
]
