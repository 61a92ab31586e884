"""Tables of ratings in no particular layout: long, and wide in three ways."""

from affectlab.ratings.formats.table.plain import PlainTable

__all__ = ["PlainTable"]
