"""What was right stays right: the numbers of many results, frozen in ``tests/data/golden.parquet``.

``tests/test_results.py`` computes every case of ``cases/`` once, compares what it gives with what
was frozen, and checks there as well what holds for every result. Frozen are numbers, how many
entered, which rows and columns there are, where there is no interval, and words that are one of
several, such as targets, statuses and verdicts; sentences are not (:mod:`tests.golden.values`). A
number may be off by the tolerance that stands beside it, relative to its size: ``CLOSED`` (1e-9)
for closed forms and ``ITERATED`` (1e-6) for fits; a count may not.

After a change that is meant to move numbers::

    make golden                                  # freeze anew, and print what changes
    python -m tests.golden --check "agreement.*" # print what would change in some cases
    python -m tests.golden --since origin/main   # of a review: what the file holds that it did not

A case returns any object, also calls, whose refusals are values, too. A new one is a function under
``@case``, or under ``@case("gaps", …)`` where it runs on tables of :mod:`tests.golden.inputs`.
"""
