"""Models that others have trained and published, as raters: nothing that they bring is executed."""
