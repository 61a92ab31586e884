"""Tables in the files of other programs, which say more than text does."""
