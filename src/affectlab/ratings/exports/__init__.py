"""Ratings as other tools take them: folders for archives, statistics programs and annotation."""

from affectlab.ratings.exports.export import Export, export_ratings, list_exports, ratings_export

__all__ = ["Export", "export_ratings", "list_exports", "ratings_export"]
