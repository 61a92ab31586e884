"""Pictures of results, as recipes write them: what is drawn, its name and its words."""

from affectlab.report.pictures.picture import Picture, pictures_of

__all__ = [
    "Picture",
    "pictures_of",
]
