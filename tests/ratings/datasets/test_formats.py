"""All formats together: each file has one, tables of one's own have none."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests.ratings.datasets.samples_of_tools import TOOLS
from tests.ratings.datasets.survey_samples import SURVEYS

from affectlab.core.errors import InputError
from affectlab.ratings import list_formats, read_ratings
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import Sure, load_format
from affectlab.ratings.formats.format import column_names
from affectlab.ratings.options import ReadOptions
from affectlab.taxonomy import load_taxonomy

# Tools ask several kinds of questions, of which not all scales are known; that is then said.
pytestmark = pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")

PUBLISHED = {
    "goemotions/raw_partial.csv": "goemotions-raw",
    "goemotions/train.tsv": "goemotions-simplified",
    "goemotions/dev.tsv": "goemotions-simplified",
    "emonet_face/binary.csv": "emonet-face-binary",
    "emonet_face/ferd.jsonl": "emonet-face-scores",
    "subjective_quality/netflix_public.json": "sureal",
    "subjective_quality/netflix_public_4_outliers.json": "sureal",
    "subjective_quality/netflix_public_partial.json": "sureal",
    "subjective_quality/p910_demo/sample_data.csv": "vqeg",
    "subjective_quality/p910_demo/small_sample_data.csv": "vqeg",
    "isear/isear.csv": "isear",
    "goemotions/emotion_words_table.csv": None,
    "goemotions/labels.txt": None,
    "goemotions/ekman_mapping.json": None,
    "goemotions/sentiment_mapping.json": None,
    "emonet_face/guide.json": None,
    "emonet_face/images/flux2_9197.jpg": None,
    "subjective_quality/expected_values_from_upstream.json": None,
    "subjective_quality/p910_demo/expected_sample_data.json": None,
    "ecc/ecc_reference.json": None,
}

RAW = "id,rater_id,example_very_unclear," + ",".join(load_taxonomy("goemotions").labels)
SAMPLES = {
    **SURVEYS,
    "goemotions-raw": f"{RAW}\na,1,False,{','.join(['0'] * 27)},1\nb,1,True,{','.join('0' * 28)}\n",
    "goemotions-simplified": 'He said "wow"\t0,26\teebbqej\nno\t27\teebbqek\n',
    "emonet-face-binary": "path,annotator,value,emotion\n00000,human-1,True,Anger\n",
    "emonet-face-hq": "image,annotator,human,annotations\na,human-1,True,\"{'Anger': 3}\"\n",
    "emonet-face-scores": json.dumps(
        {"image_path": "0_Sad.jpg", "results": {"model_anger_best": {"raw": 1.5, "softmax": 0.2}}}
    ),
    "emonet-face-vlm": json.dumps({"key": ["p", "m", "a.png"], "value": {"G|Anger": 3}}),
    "face-expressions": (
        "pair,worker,batch,score,golden,repeat,expression_a,expression_b\n"
        "p1,w1,7,50,0,0,E1,E1\np1,w1,7,60,0,1,E1,E1\np2,w2,7,100,0,0,E1,E2\n"
    ),
    "isear": (
        "ID|CITY|COUN|SUBJ|SEX|AGE|RELI|PRAC|FOCC|MOCC|FIEL|EMOT|Field1|MYKEY|SIT|STATE|\n"
        "7|1|1|1|1|33|1|2|6|1|2|2|fear|0110|When I was lost|or thought so.|1|\n"
    ),
    "mturk-batch": (
        "HITId,AssignmentId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.url,Answer.joy\n"
        "H1,A1,W1,Approved,12,a.jpg,3\nH2,A2,W2,Submitted,14,b.jpg,5\n"
    ),
    "sureal": json.dumps(
        {
            "ref_videos": [{"content_id": 0, "path": "a.yuv"}],
            "dis_videos": [
                {"content_id": 0, "path": "a.yuv", "os": [5, [4, 3]]},
                {"content_id": 0, "path": "b.yuv", "os": [None, 2]},
            ],
        }
    ),
    "socratis": json.dumps({"1": [["a.jpg", "News", ["sad", "awe"], ["x", "y"], {"age": "30"}]]}),
    "vqeg": "5,4,4,3\n1,2,nan,1\n",
    "crowdflower": 'tweet_id,sentiment,author,content\n7,worry,ann,"late, again"\n8,fun,b,ha\n',
    "electoral-tweets": (
        "id\tunitid\ttweet\t"
        "q2whatemotionchooseoneoftheoptionsfrombelowthatbestrepresentstheemotion\n"
        "1\t9\tVote!\ttrust\n2\t9\tVote!\tlike\n"
    ),
    "emoint": "1\tsuch a day!\tjoy\t0.81\n2\tfine\tjoy\t0.34\n",
    "emotion-stimulus": "<happy>She smiled <cause>at it<\\cause> .<\\happy>\n<sad>No .<\\sad>\n",
    "semeval-2018-ec": (
        "ID\tTweet\tanger\tanticipation\tdisgust\tfear\tjoy\tlove\toptimism\tpessimism\tsadness"
        "\tsurprise\ttrust\n2018-En-1\tsuch a day!" + "\t0\t1" * 5 + "\t0\n"
    ),
    "ssec": "---\t---\t---\t---\tJoy\t---\t---\t---\tsoon #SemST\n" + 8 * "---\t" + "no\n",
    "tec": "145:\tsuch a day!\t:: joy\n146:\tstill dark\t:: fear\n",
    "unified-emotion": json.dumps(
        {"id": 0, "source": "tec", "text": "such a day!", "emotions": {"joy": 1, "trust": None}}
    ),
}
SAMPLES |= TOOLS
TWO_FILES = ("affective-text", "dailydialog")
"""Formats whose answers stand in a second file; test_emotion_texts.py has samples of them."""

ANY = {"table", "affectlab", "excel", "nameless", "pivot", "spss", "stata"}
"""What any file is read as; any workbook, table under two rows of names or none, and file of a
statistics program; and what says itself that it was written here."""


def sniffed(path):
    peek = Peek.open(path)
    return [entry.name for entry in list_formats() if entry.recognise(peek) == Sure.LAYOUT]


def test_names_are_different_and_listed():
    names = [entry.name for entry in list_formats()]
    assert len(set(names)) == len(names)
    assert set(names) == {*SAMPLES, *TWO_FILES, *ANY}


@pytest.mark.parametrize(("name", "wanted"), PUBLISHED.items())
def test_published_files(shared_data, name, wanted):
    assert sniffed(shared_data / name) == ([] if wanted is None else [wanted])


@pytest.mark.parametrize("name", SAMPLES)
def test_one_format_fits(tmp_path, name):
    file = tmp_path / "sample.dat"
    file.write_text(SAMPLES[name], encoding="utf-8")
    assert sniffed(file) == [name]


def _without(text, name, *, json_text):
    """Give a file in which a column is called otherwise."""
    if json_text:
        return re.sub(rf'"{re.escape(name)}"(\s*:)', r'"other"\1', text)
    header, end, rows = text.partition("\n")
    own = rf"(?<![^,\t|]){re.escape(name)}(?![^,\t|\r])"
    return re.sub(own, "other", header, count=1) + end + rows


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_read_has_a_place_in_the_layout(tmp_path, name):
    """A column without which a file is read otherwise is not called unused."""
    file = tmp_path / "sample.dat"
    file.write_text(SAMPLES[name], encoding="utf-8")
    head, r = Peek.open(file), read_ratings(file)
    first = head.first_record
    columns = tuple(first) if isinstance(first, dict) else column_names(head)
    layout = load_format(name).describe(head, ReadOptions())
    parts = [part for column in layout.roles.values() for part in (column, *column.split(", "))]
    # Of an object in a column, such as ``key.2``, the column has the place.
    known = {*parts, *(part.partition(".")[0] for part in parts)}
    known |= {*layout.labels, *layout.stimuli, *layout.raters, *layout.others, *layout.unused}
    if known.isdisjoint(columns) or len(set(columns)) < len(columns):
        pytest.skip("no header")
    known |= {*r.raters.columns, *r.stimuli.columns, *r.frame.columns}
    for column in set(columns) - known:
        changed = _without(SAMPLES[name], column, json_text=head.starts_with_json())
        file.write_text(changed, encoding="utf-8")
        again = read_ratings(file, format=name)
        assert again.label_names == r.label_names, column
        assert again.rater_names == r.rater_names, column
        assert again.frame.equals(r.frame), column


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
@pytest.mark.parametrize("name", SAMPLES)
def test_what_was_read_can_be_written_and_read_again(tmp_path, name, suffix):
    file = tmp_path / "sample.dat"
    file.write_text(SAMPLES[name], encoding="utf-8")
    r = read_ratings(file)
    again = read_ratings(r.write(tmp_path / f"again{suffix}"))
    assert again.equals(r)
    assert again.history == r.history


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("name", SAMPLES)
def test_cut_files_never_say_more_than_whole_ones(tmp_path, name, share):
    file, whole = tmp_path / "cut.dat", tmp_path / "whole.dat"
    text = SAMPLES[name]
    file.write_text(text[: int(len(text) * share)], encoding="utf-8")
    whole.write_text(text, encoding="utf-8")
    try:
        n_rows, said = read_ratings(file, format=name).n_rows, str(file)
    except InputError as error:
        n_rows, said = 0, str(error)
    assert n_rows <= read_ratings(whole).n_rows
    assert said.startswith(str(file))
    assert "\n" not in said


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("content", ["stimulus,rater,value\na,b,3\n", '{"a": 1}', "[[1, 2]]", "x"])
def test_wrong_content_raises_one_sentence(tmp_path, name, content):
    file = tmp_path / "x.dat"
    file.write_text(content)
    with pytest.raises(InputError) as error:
        read_ratings(file, format=name)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "stimulus,rater,label,value\na,b,joy,3\n",
        "path,annotator,value,emotion\na,b,4,joy\n",
        "id,rater_id,text,joy\n1,2,hello,1\n",
        "image,annotator,annotations\na,b,{}\n",
        "pair,worker,score\na,b,50\n",
        "text\tlabel\tid\nfine\tjoy\t7\n",
        "fine\t3\tcomment-7\n",
        "ID|text\n1|x\n",
        '{"stimulus": "a", "rater": "b", "value": 3}\n',
        '[{"stimulus": "a", "rater": "b", "value": 3}]',
        '{"a": [["x", "y", 1, 2]]}',
        '{"key": "a", "value": 3}',
        '{"image_path": "a.jpg", "results": {"anger": 1}}',
        '{"dis_videos": []}',
        "item,r1,r2,r3,r4\na,1,2,3,4\n",
        "1,1,5\n1,2,4\n2,1,3\n",
        '{"id": 1, "text": "fine", "label": 3}\n',
        '[{"id": 1, "data": {"text": "fine"}, "label": "joy"}]',
        "task,worker,label,value\na,b,joy,3\n",
        '[{"stimulus": "a", "rater": "b", "label": "joy", "score": 0.5}]',
        '{"version": 2, "status": "draft"}',
        "frame,confidence,AU01\n1,0.9,1\n",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_own_tables_have_no_format(tmp_path, text):
    file = tmp_path / "own.dat"
    file.write_text(text, encoding="utf-8")
    assert sniffed(file) == []


@given(st.binary(min_size=1, max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_bytes_can_be_sniffed(tmp_path_factory, content):
    file = tmp_path_factory.mktemp("bytes") / "x.dat"
    file.write_bytes(b"x" + content)
    assert sniffed(file) == []


def test_a_table_says_what_each_column_is_taken_for(tmp_path):
    file = tmp_path / "wide.csv"
    file.write_text(",image,age,ann,bo\n0,a,x,1,2\n1,b,y,3,4\n")
    head = Peek.open(file)
    layout = load_format("table").describe(head, ReadOptions(wide="raters"))
    assert layout.roles == {"stimulus": "image"}
    assert layout.labels == ("ann", "bo")
    assert layout.attributes == ("age",)
    assert layout.unused == {"": "it only tells rows apart"}
    file.write_text("image,annotator,rating\na,x,1\n")
    layout = load_format("table").describe(Peek.open(file))
    assert layout.roles == {"stimulus": "image", "rater": "annotator", "value": "rating"}


@pytest.mark.parametrize("name", [*SAMPLES, *TWO_FILES])
def test_each_format_says_what_its_columns_are(name):
    layout = load_format(name).layout
    named = [*layout.roles.values(), *layout.labels, *layout.stimuli, *layout.raters]
    assert len(set(named)) == len(named)
    assert name == "vqeg" or named


def test_the_documentation_lists_all_formats():
    docs = Path(__file__).parents[3] / "docs"
    conf = runpy.run_path(str(docs / "conf.py"))
    source = [(docs / "reference" / "ratings.md").read_text(encoding="utf-8")]
    conf["list_the_formats"](None, "reference/ratings", source)
    rows = [line for line in source[0].splitlines() if line.startswith("| `")]
    assert {line.split("`")[1] for line in rows} == {*SAMPLES, *TWO_FILES, *ANY}
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}
    for one in list_formats():
        assert source[0].count(f"{type(one).__module__}.{type(one).__name__}\n") == 1
