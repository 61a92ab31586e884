"""What is read of a file stays what it was: readings frozen in ``tests/data/readings.parquet``.

``tests/readings/test_readings.py`` reads every input of :mod:`tests.readings.inputs` and compares
what it gives with what was frozen: each answer (rater, stimulus, label, value, and the category or
text in words), the scale of each label, the kind of each rater, what tells answers apart, which
columns describe what, and which kinds of guesses were told; or, of a file that is refused, the
sentence. In which order rows stand does not count.

After a change that is meant to read something otherwise::

    make readings                                 # freeze anew, and print what changes
    python -m tests.readings --check "year/*"     # print what would change in some inputs
    python -m tests.readings --since origin/main  # of a review: what the file holds anew
"""
