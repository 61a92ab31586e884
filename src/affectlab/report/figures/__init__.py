"""Kinds of figures, by subject: functions of axes, a table and settings.

They are registered in :mod:`affectlab.core.render.figure`; results name them by their kind, and
:func:`affectlab.report.draw_figure` draws one of plain columns.
"""
