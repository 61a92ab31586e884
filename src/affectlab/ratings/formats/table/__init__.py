"""Tables of ratings in no particular layout: long, and wide in three ways."""

from affectlab.ratings.formats.table.columns import (
    TRUTHS as TRUTHS,
    find_chosen as find_chosen,
    find_columns as find_columns,
    find_one as find_one,
    words_in as words_in,
)
from affectlab.ratings.formats.table.crossed import Crossing as Crossing, crossings as crossings
from affectlab.ratings.formats.table.evidence import (
    Evidence as Evidence,
    odd_words as odd_words,
    stem_of as stem_of,
)
from affectlab.ratings.formats.table.lexicon import (
    are_occasions as are_occasions,
    find_rater as find_rater,
    meant as meant,
)
from affectlab.ratings.formats.table.long import (
    LongLayout as LongLayout,
    called_after_raters as called_after_raters,
    is_of_numbers as is_of_numbers,
)
from affectlab.ratings.formats.table.plain import (
    PlainTable,
    table_columns as table_columns,
    with_answers_spread as with_answers_spread,
)
from affectlab.ratings.formats.table.wide import (
    WideLayout as WideLayout,
)

__all__ = ["PlainTable"]
