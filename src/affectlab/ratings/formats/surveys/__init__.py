"""Exports of survey tools, in which each row is the sheet of one person."""
