"""Pictures of results, as verbs and recipes write them: what is drawn, its name and its words."""

from affectlab.report.pictures.picture import Picture, pictures_of, save_pictures
from affectlab.report.pictures.preferences import pictures_of_areas, pictures_of_preferences

__all__ = [
    "Picture",
    "pictures_of",
    "pictures_of_areas",
    "pictures_of_preferences",
    "save_pictures",
]
