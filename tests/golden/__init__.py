"""What was true stays true: the package compared with an older commit of itself.

``python -m tests.golden.compare`` runs the *base* (the commit that ``base.txt`` names) and the
working tree on the same generated inputs, each in a process of its own, and lists every number,
status, warning, note and sentence that differs::

    python -m tests.golden.compare                 # the small set, which the tests run too
    python -m tests.golden.compare --all           # every case
    python -m tests.golden.compare --only "agreement.*" --only "command_line.demo"
    python -m tests.golden.compare --all --venv    # the base in an environment of its own

Without ``--venv`` the base runs on the libraries of this interpreter; where one that it needs is
not installed any more, the comparison says so. The base is unpacked into ``build/golden``.

What is compared
----------------
A case returns any object, and :mod:`tests.golden.tree` makes it into leaves with stable paths,
``case/table/key of the row/column``. Texts and counts are equal; numbers are equal to the tolerance
of the case: ``CLOSED`` (1e-9) for closed forms, ``ITERATED`` (1e-6) for fits, and what a case says
itself for trained models, which are compared by their metric. An error that the package raises on
purpose is a result, too; any other exception is a failure of the case. The order of the rows of a
table is compared only where no column tells them apart.

While rewriting
---------------
The two editions spell things differently, and nobody should keep both spellings. A file of
``cases/`` is therefore written once. While it holds the line ``# spelled for the base``, both sides
run the file as it is. When a name changes, edit the case to the new spelling and delete that line:
from then on the base runs the last committed version that still had it, found in the history of the
file. Of all ways this leaves the least to keep: there is no second copy, no table of names and no
hash that a rebase would break; a case that says the same in both spellings is never touched, and a
mistake in a case is mended where it is written. Its price is one rule: never add a file and respell
it in the same commit (the base would have nothing to run, which is an error), and do not rename
files of cases. A case that is found missing later goes into a new file with the line. Inputs,
:mod:`tests.golden.tree` and :mod:`tests.golden.case` are shared, and know no name of the package.

Edit a case so that its paths stay as they were, for example by naming the tables that it returns,
or with :func:`tests.golden.tree.rows` where the columns that tell rows apart have moved. Where a
path, text or number has to differ, a line of ``changes.toml`` says why:

``[[renamed]]``
    ``path`` (a regular expression) and ``to``: paths of the base are rewritten before the
    comparison, for example where a column has a new name in all tables.
``[[reworded]]``
    ``path`` (with ``*``): texts may differ in their words, not in the numbers that they state.
``[[restated]]``
    ``path`` (with ``*``): the texts of a list may stand in other words and other places, while
    every number that they stated together is still stated as often, perhaps to more digits, for
    example in the lines of a terminal or the cells of a section of a report.
``[[added]]``
    ``path`` (with ``*``): the base had nothing there, for example no such column.
``[[changed]]``
    ``path`` (with ``*``): the values may differ, be missing or be new; with ``within = 0.02`` only
    numbers, and only by so much, for example the Monte-Carlo error of other random draws.

Every line has a ``why``. A line that nothing needs is an error of ``--all``.
"""
