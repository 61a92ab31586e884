"""Published texts with emotions, one module a data set."""

from affectlab.ratings.formats.texts.entries import Text as Text, Texts as Texts
