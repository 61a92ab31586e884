"""From any file to a table of ratings, of people and of models."""

from affectlab.ratings.reading.describe import RatingsDescription, describe_ratings
from affectlab.ratings.reading.models import read_models
from affectlab.ratings.reading.read import read_ratings

__all__ = ["RatingsDescription", "describe_ratings", "read_models", "read_ratings"]
