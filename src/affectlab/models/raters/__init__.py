"""Faces rated by models that are installed and by services, put beside ours.

:func:`rate_faces` gives the ratings of a :class:`FaceRater`: one of py-feat, hsemotion-onnx or
deepface, the expression measurement of a service such as Hume, what another package adds, or any
function from pictures to scores (:func:`load_face_rater`). An adapter for another service is a
subclass of :class:`ExpressionApi`, of which :func:`api_rater` makes a rater.
"""

from affectlab.models.raters.rate import rate_faces
from affectlab.models.raters.rater import Face, FaceAnswer, FaceRater
from affectlab.models.raters.registry import list_face_raters, load_face_rater
from affectlab.models.raters.services import ApiRequest, ExpressionApi, api_rater

__all__ = [
    "ApiRequest",
    "ExpressionApi",
    "Face",
    "FaceAnswer",
    "FaceRater",
    "api_rater",
    "list_face_raters",
    "load_face_rater",
    "rate_faces",
]
