"""Reading texts with labels from the files that people have."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab import InputError, Ratings
from affectlab.models.text import labelled_texts, read_labelled_texts, read_texts

SIMPLE = 'He said "wow"\t0,26\teebbqej\nmeh\t27\ted00q6i\n'


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_goemotions_as_prepared_for_training(tmp_path):
    found = read_labelled_texts(write(tmp_path, "dev.tsv", SIMPLE))
    assert found.texts == ('He said "wow"', "meh")
    assert found.stimuli == ("eebbqej", "ed00q6i")
    assert found.split == "dev"
    assert [np.flatnonzero(row).tolist() for row in found.targets] == [[0, 26], [27]]
    assert read_texts(tmp_path / "dev.tsv")[:2] == (found.texts, found.stimuli)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'text,labels\nso happy,"joy, love"\nbad,anger\n'),
        ("a.csv", "text;labels\nso happy;joy|love\nbad;anger\n"),
        ("a.tsv", "labels\ttext\tid\njoy;love\tso happy\t007\nanger\tbad\t008\n"),
        ("a.csv", 'text,labels\nso happy,"17,18"\nbad,2\n'),
        ("a.csv", 'stimulus,text,labels,more\n007,so happy,"Joy,LOVE",x\n008,bad,anger,y\n'),
    ],
)
def test_tables_with_text_and_labels(tmp_path, name, text):
    found = read_labelled_texts(write(tmp_path, name, text), taxonomy="goemotions")
    named = [[found.taxonomy.labels[k] for k in np.flatnonzero(row)] for row in found.targets]
    assert named == [["joy", "love"], ["anger"]]
    named_by_file = "007" in text
    assert found.stimuli == (("007", "008") if named_by_file else ("text 1", "text 2"))


def test_taxonomy_is_told_by_the_labels(tmp_path):
    some = "text,labels\na,joy\nb,remorse\n"
    assert read_labelled_texts(write(tmp_path, "a.csv", some)).taxonomy.name == "goemotions"
    own = "text,labels\na,calm\nb,tense\n"
    assert read_labelled_texts(write(tmp_path, "b.csv", own)).taxonomy.labels == ("calm", "tense")
    numbers = "text,labels\na,1\nb,0\n"
    with pytest.raises(InputError, match="labels are numbers such as '1'; name the taxonomy"):
        read_labelled_texts(write(tmp_path, "c.csv", numbers))


def people(answers: dict[str, list[str]]) -> Ratings:
    """Ratings of raters who each chose one of three labels."""
    rows = [
        (text, f"r{k}", label, float(label == chosen))
        for text, choices in answers.items()
        for k, chosen in enumerate(choices)
        for label in ("joy", "fear", "anger")
    ]
    stimulus, rater, label, value = zip(*rows, strict=True)
    return Ratings(
        {"stimulus": stimulus, "rater": rater, "label": label, "value": value},
        scale="binary",
        taxonomy="ekman",
        stimuli={"stimulus": list(answers), "text": [f"text of {name}" for name in answers]},
    )


def test_labels_that_two_people_chose_and_shares_of_people():
    ratings = people({"a": ["joy", "joy", "fear"], "b": ["joy", "fear", "anger"]})
    hard = labelled_texts(ratings)
    assert hard.stimuli == ("a",)
    assert any("1 text without a label" in note for note in hard.notes)
    assert hard.targets[0, hard.taxonomy.index("joy")] == 1
    assert hard.targets.sum() == 1
    soft = labelled_texts(ratings, soft=True)
    shares = {name: soft.targets[0, soft.taxonomy.index(name)] for name in ("joy", "fear")}
    assert shares == {"joy": pytest.approx(2 / 3), "fear": pytest.approx(1 / 3)}
    assert len(soft) == 2
    one = labelled_texts(ratings, agree=1)
    assert one.targets.sum(axis=1).tolist() == [2, 3]
    third = labelled_texts(ratings, agree=0.3)
    assert np.array_equal(third.targets, one.targets)


def test_named_labels_of_people():
    ratings = Ratings(
        {"stimulus": ["a", "b"], "rater": ["r", "r"], "value": ["joy", "fear"]},
        stimuli={"stimulus": ["a", "b"], "text": ["so good", "help"]},
    )
    found = labelled_texts(ratings)
    named = [found.taxonomy.labels[row.argmax()] for row in found.targets]
    assert named == ["joy", "fear"]


def test_texts_to_rate(tmp_path):
    lines = write(tmp_path, "posts.txt", "so happy\nso sad\n")
    assert read_texts(lines)[:2] == (("so happy", "so sad"), ("line 1", "line 2"))
    table = write(tmp_path, "posts.csv", "id,text,when\n007,so happy,1\n008,5,2\n")
    assert read_texts(table)[:2] == (("so happy", "5"), ("007", "008"))


def test_empty_texts_are_refused_or_set_aside(tmp_path):
    path = write(tmp_path, "train.csv", "text,labels\nso happy,joy\n ,fear\nsad,sadness\n")
    for read in (read_labelled_texts, read_texts):
        with pytest.raises(InputError, match="row 2: the text is empty"):
            read(path)
    found = read_labelled_texts(path, on_bad="set_aside")
    assert found.texts == ("so happy", "sad")
    assert found.notes == ("set aside: 1 empty text",)
    texts, names, notes = read_texts(path, on_bad="set_aside")
    assert (texts, names, notes) == (
        ("so happy", "sad"),
        ("text 1", "text 3"),
        ("set aside: 1 empty text",),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("text,labels\na,joy\nb,hapy\n", "row 2: unknown label 'hapy'"),
        ("text,labels\na,0\nb,28\n", "row 2: label number 28 is out of range; expected 0 to 27"),
        ("text,labels\na,\nb,\n", "no text has a label"),
        ("words,labels\na,joy\n", "words"),
        ("", "empty"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, text, words):
    with pytest.raises(InputError, match=words) as caught:
        read_labelled_texts(write(tmp_path, "a.csv", text), taxonomy="goemotions")
    assert "\n" not in str(caught.value)


def test_ratings_that_name_no_labels_are_refused():
    table = {"stimulus": ["a", "b"], "rater": ["r", "r"], "label": ["joy", "joy"], "value": [1, 5]}
    texts = {"stimulus": ["a", "b"], "text": ["x", "y"]}
    with pytest.raises(InputError, match="expected yes or no to each label"):
        labelled_texts(Ratings(table, scale="0-7", stimuli=texts))
    with pytest.raises(InputError, match="no attribute 'text'"):
        labelled_texts(Ratings(table, scale="0-7"))


@pytest.mark.data
def test_published_files(shared_data):
    dev = read_labelled_texts(shared_data / "goemotions" / "dev.tsv")
    assert (len(dev), int(dev.targets.sum())) == (5426, 6380)
    raw = read_labelled_texts(shared_data / "goemotions" / "raw_partial.csv", agree=2)
    # Comments with a label that at least two raters chose.
    assert len(raw) == 488
    isear = read_labelled_texts(shared_data / "isear" / "isear.csv")
    assert (len(isear), isear.taxonomy.name) == (7506, "isear")
    assert (isear.targets.sum(axis=1) == 1).all()
