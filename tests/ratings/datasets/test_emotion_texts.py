"""Texts with emotions in the formats of ten published sets: recognised, read, refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.ratings.told import kinds

from affectlab.core.errors import InputError
from affectlab.models.text import labelled_texts, read_labelled_texts
from affectlab.ratings import StepKind, list_formats, read_ratings
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import Sure
from affectlab.ratings.formats.texts.emoint import EmoInt
from affectlab.ratings.steps import step

QUESTION = "q2whatemotionchooseoneoftheoptionsfrombelowthatbestrepresentstheemotion"


def unified(number, source, text, vad=None, split=None, **emotions):
    every = dict.fromkeys(
        ["joy", "anger", "sadness", "disgust", "fear", "trust", "surprise", "love", "noemo"]
    )
    every |= dict.fromkeys(["confusion", "anticipation", "shame", "guilt"])
    none = {"valence": None, "arousal": None, "dominance": None}
    return json.dumps(
        {
            "id": number,
            "VAD": vad or none,
            "source": source,
            "text": text,
            "emotions": every | emotions,
            "split": split,
            "domain": "tweets",
        }
    )


FILES = {
    "tec": {
        "Jan9-2012-tweets-clean.txt": [
            "145353048817012736:\tThinks it was :) a :: day\t:: joy",
            '145:\tI said "no"\t:: anger',
        ]
    },
    "emotion-stimulus": {
        "Emotion Cause.txt": [
            "<happy>These days he is quite happy <cause>travelling by trolley<\\cause> . <\\happy>",
            "<anger>Bernice was so angry she could hardly speak . <\\anger>",
        ]
    },
    "emoint": {
        "joy-ratings-0to1.train.txt": [
            "30000\tJust got back from seeing @GaryDelaney\tjoy\t0.980",
            '30001\tOh dear "an" evening\tjoy\t0.5',
            "30002\tso so\tjoy\t0.499",
        ]
    },
    "affective-text": {
        "affectivetext_trial.xml": [
            '<corpus task="affective text">',
            '<instance id="500">Test to predict breast cancer relapse & is approved</instance>',
            '<instance id="501">Two hussars appear in Iraq court</instance>',
            "</corpus>",
        ],
        "affectivetext_trial.emotions.gold": ["500 0 0 15 38 9 11", "501 24 26 16 13 50 4"],
        "affectivetext_trial.valence.gold": ["500 32", "501 -48"],
    },
    "ssec": {
        "train-combined-0.0.csv": [
            '---\tAnticipation\t---\t---\tJoy\t---\t---\tTrust\t"He who wins #SemST',
            "Anger\t---\tDisgust\t---\t---\tSadness\t---\t---\tno. #SemST",
            "---\t---\t---\t---\t---\t---\t---\t---\tnothing here #SemST",
        ]
    },
    "crowdflower": {
        "text_emotion.csv": [
            '"tweet_id","sentiment","author","content"',
            '1956967341,"empty","xoshayzers","@tiffanylue i know, ""bad"" habit =["',
            '1956967666,"sadness","wannamama","Layin n bed with a headache"',
        ]
    },
    "dailydialog": {
        "dialogues_text.txt": [
            "The kitchen stinks . __eou__ I'll throw out the garbage . __eou__",
            "Hello ! __eou__ Oh , it is you . __eou__ Yes . __eou__",
        ],
        "dialogues_emotion.txt": ["2 0", "4 6 0"],
    },
    "electoral-tweets": {
        "AnnotatedTweets.txt": [
            f"id\ttrust\tunitid\ttweet\t{QUESTION}",
            "1\t0.9\t77\tVote now!\tanticipation or  expectancy or interest",
            "2\t0.8\t77\tVote now!\ttrust",
            "3\t0.8\t78\tNo.\tBLANK",
            "4\t0.8\t79\tUgh\tanger or annoyance or hostility or fury",
        ]
    },
    "unified-emotion": {
        "unified-dataset.jsonl": [
            unified(0, "tec", "such a day", joy=1, anger=0, fear=0),
            unified(1, "ssec", "soon", joy=1, anger=0, trust=1),
            unified(2, "EmoBank", "so", vad={"valence": "3.2", "arousal": 3, "dominance": None}),
        ]
    },
}


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / next(iter(files))


def claims(peek):
    """Formats that say that a file has their layout."""
    return [one.name for one in list_formats() if one.recognise(peek) == Sure.LAYOUT]


@pytest.mark.parametrize("name", FILES)
def test_each_is_recognised_and_by_one_format_alone(name, tmp_path):
    peek = Peek.open(write(tmp_path, FILES[name]))
    assert claims(peek) == [name]


@pytest.mark.parametrize("name", FILES)
def test_windows_line_ends_change_nothing(name, tmp_path):
    plain = read_ratings(write(tmp_path / "a", FILES[name]))
    folder = tmp_path / "b"
    file = write(folder, FILES[name])
    for part in folder.iterdir():
        part.write_bytes(part.read_bytes().replace(b"\n", b"\r\n"))
    other = read_ratings(file)
    assert other.to_frame().equals(plain.to_frame())
    assert other.stimuli.equals(plain.stimuli)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
@pytest.mark.parametrize("name", FILES)
def test_written_and_read_again(name, suffix, tmp_path):
    r = read_ratings(write(tmp_path, FILES[name]))
    assert read_ratings(r.write(tmp_path / f"again{suffix}")).equals(r)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("name", ["dailydialog", "affective-text"])
def test_cut_files_never_say_more_than_whole_ones(name, share, tmp_path):
    file = write(tmp_path, FILES[name])
    whole = len(read_ratings(file))
    for part in list(tmp_path.iterdir()):
        text = part.read_text()
        part.write_text(text[: int(share * len(text))])
        try:
            n, said = len(read_ratings(file, format=name)), str(file)
        except InputError as error:
            n, said = 0, str(error)
        assert n <= whole
        assert str(tmp_path) in said
        assert "\n" not in said
        part.write_text(text)


def named(r):
    """Stimulus and name of every answer of a nominal table."""
    values = [r.scale.categories[int(value)] for value in r.value]
    return list(zip(r.frame["stimulus"].to_list(), values, strict=True))


def test_tec(tmp_path):
    r = read_ratings(write(tmp_path, FILES["tec"]))
    assert named(r) == [("145353048817012736", "joy"), ("145", "anger")]
    assert r.stimuli["text"].to_list() == ["Thinks it was :) a :: day", 'I said "no"']
    assert r.rater_names == ("author",)


def test_emotion_stimulus(tmp_path):
    r = read_ratings(write(tmp_path, FILES["emotion-stimulus"]))
    assert named(r) == [("Emotion Cause 1", "happy"), ("Emotion Cause 2", "anger")]
    assert r.stimuli["text"][0] == "These days he is quite happy travelling by trolley ."
    assert r.stimuli["cause"].to_list() == ["travelling by trolley", None]


def test_emoint(tmp_path):
    file = write(tmp_path, FILES["emoint"])
    r = read_ratings(file, format="emoint,cut=0.5")
    assert str(r.scale.kind) == "binary"
    # From 0.5 on, as in the paper.
    assert r.value.tolist() == [1, 1, 0]
    assert set(r.frame["label"].to_list()) == {"joy"}
    assert r.history[-1] == step(StepKind.CUT, value=0.5)
    assert read_ratings(file).value.tolist() == [0.98, 0.5, 0.499]
    with pytest.raises(InputError, match=r"cut = 1\.5: expected a number above 0, up to 1"):
        read_ratings(file, format="emoint,cut=1.5")


def test_emoint_of_semeval_and_without_scores(tmp_path):
    file = tmp_path / "2018-EI-reg-En-anger-dev.txt"
    file.write_text(
        "ID\tTweet\tAffect Dimension\tIntensity Score\n"
        "2018-En-02328\t@x mad\tanger\t0.719\n2018-En-02329\tI\tanger\tNONE\n",
        encoding="utf-8",
    )
    r = read_ratings(file)
    assert r.stimulus_names == ("2018-En-02328",)
    (aside,) = r.set_aside
    assert (aside.reason, aside.count) == ("no intensity (NONE)", 1)


def test_affective_text(tmp_path):
    file = write(tmp_path, FILES["affective-text"])
    r = read_ratings(file)
    assert r.value.tolist() == [0, 0, 15, 38, 9, 11, 24, 26, 16, 13, 50, 4]
    assert r.stimuli["valence"].to_list() == [32, -48]
    assert r.stimuli["text"][0] == "Test to predict breast cancer relapse & is approved"
    chosen = read_ratings(file, format="affective-text,cut=50")
    assert chosen.value.sum() == 1
    file.with_suffix(".valence.gold").unlink()
    assert read_ratings(file).stimuli["valence"].to_list() == [None, None]


def test_ssec(tmp_path):
    r = read_ratings(write(tmp_path, FILES["ssec"]))
    assert r.value.reshape(3, 8).sum(axis=1).tolist() == [3, 3, 0]
    assert r.label_names[1] == "anticipation"
    assert r.stimuli["text"][0] == '"He who wins #SemST'


def test_crowdflower(tmp_path):
    r = read_ratings(write(tmp_path, FILES["crowdflower"]))
    assert named(r) == [("1956967341", "empty"), ("1956967666", "sadness")]
    assert r.stimuli["text"][0] == '@tiffanylue i know, "bad" habit =['
    assert r.stimuli["author"].to_list() == ["xoshayzers", "wannamama"]


def test_dailydialog(tmp_path):
    r = read_ratings(write(tmp_path, FILES["dailydialog"]))
    assert [emotion for _, emotion in named(r)] == [
        "disgust",
        "no emotion",
        "happiness",
        "surprise",
        "no emotion",
    ]
    assert r.stimulus_names[2] == "dialogues_text 2.1"
    assert r.stimuli["turn"].to_list() == [1, 2, 1, 2, 3]
    assert r.stimuli["dialogue"].to_list() == [1, 1, 2, 2, 2]


def test_dailydialog_by_splits(tmp_path):
    files = {
        name.replace("_text", "_train").replace("_emotion", "_emotion_train"): lines
        for name, lines in FILES["dailydialog"].items()
    }
    assert "dialogues_emotion_train.txt" in files
    assert len(read_ratings(write(tmp_path, files))) == 5


def test_electoral_tweets(tmp_path):
    r = read_ratings(write(tmp_path, FILES["electoral-tweets"]))
    assert named(r)[0] == ("77", "anticipation or expectancy or interest")
    assert r.rater_names == ("judgement 1", "judgement 2", "judgement 4")
    assert r.set_aside[0].reason == "no emotion named (BLANK)"
    files = {"AnnotatedTweets.txt": list(FILES["electoral-tweets"]["AnnotatedTweets.txt"])}
    files["AnnotatedTweets.txt"] = [
        line + ("\tworkerid" if row == 0 else f"\tw{row % 2}")
        for row, line in enumerate(files["AnnotatedTweets.txt"])
    ]
    named_raters = read_ratings(write(tmp_path, files))
    assert named_raters.rater_names == ("w1", "w0")


def test_unified_emotion(tmp_path):
    file = write(tmp_path, FILES["unified-emotion"])
    r = read_ratings(file)
    assert r.stimulus_names == ("tec 0", "ssec 1")
    # What a source did not ask for is absent and not 0.
    assert len(r) == 6
    assert r.set_aside[0].reason.startswith("no emotion asked")
    one = read_ratings(file, format="unified-emotion,source=ssec,cut=0.5")
    assert dict(zip(one.frame["label"], one.value, strict=True)) == {
        "joy": 1.0,
        "anger": 0.0,
        "trust": 1.0,
    }
    with pytest.raises(InputError, match="unknown source 'sec'; did you mean 'ssec' or 'tec'"):
        read_ratings(file, format="unified-emotion,source=sec,cut=0.5")


def test_unified_intensities_are_cut(tmp_path):
    lines = [unified(3, "affectivetext", "court", joy=0.54, anger=0.49, split="trial")]
    file = write(
        tmp_path, {"u.jsonl": [*FILES["unified-emotion"]["unified-dataset.jsonl"], *lines]}
    )
    raw = read_ratings(file)
    assert raw.scale.kind == "interval"
    assert raw.value[-2:].tolist() == [0.54, 0.49]
    cut = read_ratings(file, format="unified-emotion,source=affectivetext,cut=0.5")
    assert (cut.scale.kind, cut.value.tolist()) == ("binary", [1.0, 0.0])
    # A source that is 0 and 1 alone is cut to the same.
    assert set(read_ratings(file, format="unified-emotion,source=tec,cut=0.5").value.tolist()) == {
        0.0,
        1.0,
    }


def test_they_can_be_trained_on(tmp_path):
    for name, n, labels in (
        ("tec", 2, 6),
        ("crowdflower", 2, 13),
        ("dailydialog", 5, 7),
        ("emotion-stimulus", 2, 7),
        ("electoral-tweets", 2, 19),
        ("ssec", 2, 8),
    ):
        data = read_labelled_texts(write(tmp_path / name, FILES[name]), agree=1)
        assert len(data) == n, name
        assert len(data.taxonomy) == labels, name
        assert data.targets.any(axis=1).all(), name
    data = labelled_texts(
        read_ratings(write(tmp_path / "emoint", FILES["emoint"]), format="emoint,cut=0.5")
    )
    assert data.texts == ("Just got back from seeing @GaryDelaney", 'Oh dear "an" evening')
    np.testing.assert_array_equal(data.targets[:, data.taxonomy.index("joy")], 1)


BAD = {
    "tec": ("147:\tno emotion", r"line 3.*expected 'number:', a tweet and ':: emotion'"),
    "emotion-stimulus": ("<joy>no<\\joy>", "line 3: emotion 'joy'; expected one of anger"),
    "emoint": ("30003\tx\tjoy\t1.2", r"line 4: intensity '1\.2'; expected.*from 0 to 1"),
    "ssec": ("Joy" + "\t---" * 7 + "\tx", "line 4: 'Joy'; expected eight emotions"),
    "crowdflower": ('9,"angst","a","x"', "row 3: emotion 'angst'; expected one of anger"),
    "dailydialog": ("One . __eou__ Two . __eou__", "line 3: 2 turns, and 0 emotions in"),
    "electoral-tweets": (
        "5\t1\t80\tNo\trage",
        "line 6: emotion 'rage'; expected one of acceptance",
    ),
    "unified-emotion": (
        '{"id": 9, "source": "tec", "text": "x", "emotions": {"joy": 7}}',
        "line 4: joy is 7; expected a number from 0 to 1, or null",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_lines_that_cannot_be_used(name, tmp_path):
    line, said = BAD[name]
    files = {part: list(lines) for part, lines in FILES[name].items()}
    next(iter(files.values())).append(line)
    file = write(tmp_path, files)
    with pytest.raises(InputError, match=said):
        read_ratings(file)
    kept = read_ratings(file, on_bad="set_aside")
    assert kept.to_frame().equals(read_ratings(write(tmp_path / "good", FILES[name])).to_frame())
    assert any(str(len(files[file.name])) in place or "row 3" in place
               for aside in kept.set_aside for place in aside.places)  # fmt: skip


def test_files_that_belong_together(tmp_path):
    file = write(tmp_path / "d", FILES["dailydialog"])
    (file.parent / "dialogues_emotion.txt").write_text("2 9\n4 6 0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"emotion '9' in dialogues_emotion\.txt; expected 0 to 6"):
        read_ratings(file)
    (file.parent / "dialogues_emotion.txt").unlink()
    with pytest.raises(InputError, match=r"no file dialogues_emotion\.txt beside it"):
        read_ratings(file)
    file = write(tmp_path / "a", FILES["affective-text"])
    gold = file.with_suffix(".emotions.gold")
    gold.write_text("500 0 0 15 38 9\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"gold, line 1: .*six intensities from 0 to 100"):
        read_ratings(file)
    gold.write_text("500 0 0 15 38 9 11\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3: headline '501' has no intensities in"):
        read_ratings(file)
    gold.unlink()
    with pytest.raises(InputError, match=r"no file affectivetext_trial\.emotions\.gold beside it"):
        read_ratings(file)


def test_another_format_is_refused(tmp_path):
    file = write(tmp_path, FILES["tec"])
    for other in ("emoint", "ssec"):
        with pytest.raises(InputError):
            read_ratings(file, format=other)
    with pytest.raises(InputError, match="columns cannot be given with format 'tec'"):
        read_ratings(file, format="tec", columns={"stimulus": "id"})


HEADER = "ID\tTweet\tanger\tanticipation\tdisgust\tfear\tjoy\tlove\toptimism\tpessimism"
HEADER += "\tsadness\tsurprise\ttrust"


def test_semeval_2018_multi_label(tmp_path):
    file = tmp_path / "2018-E-c-En-train.txt"
    rows = ['2018-En-1\t"Worry is a down payment\t0\t1\t0\t0\t0\t0\t1\t0\t0\t0\t1', "2018-En-2\tso"]
    rows[1] += "\t1" + "\t0" * 10
    file.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    r = read_ratings(file)
    assert (r.n_stimuli, r.n_labels, r.rater_names) == (2, 11, ("consensus",))
    assert r.value.reshape(2, 11).sum(axis=1).tolist() == [3, 1]
    chosen = r.frame.filter(r.frame["value"] == 1)["label"].to_list()
    assert chosen == ["anticipation", "optimism", "trust", "anger"]
    assert r.stimuli["text"][0] == '"Worry is a down payment'


def test_semeval_2018_cells_that_are_no_answers(tmp_path):
    file = tmp_path / "2018-E-c-En-test.txt"
    lines = [HEADER, "1\tx" + "\t0" * 11, "2\ty" + "\tNONE" * 11, "3\tz\t2" + "\t0" * 10]
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match=r"line 4: anger is '2'; expected 0 or 1"):
        read_ratings(file)
    r = read_ratings(file, on_bad="set_aside")
    assert {part.reason: part.count for part in r.set_aside} == {
        "no answers (NONE)": 1,
        "label not 0 or 1": 1,
    }
    assert r.n_stimuli == 1


def test_settings_of_a_format(tmp_path):
    file = write(tmp_path, FILES["emoint"])
    with pytest.raises(InputError, match=r"format 'emoint': unknown setting 'cat'; did you mean"):
        read_ratings(file, format="emoint,cat=0.5")
    with pytest.raises(InputError, match=r"format 'emoint': cut = 'half' is not understood"):
        read_ratings(file, format="emoint,cut=half")
    given = read_ratings(file, format=EmoInt(cut=0.5))
    assert given.equals(read_ratings(file, format="emoint,cut=0.5"))


@pytest.mark.parametrize("name", ["semeval-2018-ec", "emoint"])
def test_a_file_of_answers_without_raters_may_have_one_named(name, tmp_path):
    emotions = "anger anticipation disgust fear joy love optimism pessimism sadness surprise trust"
    header = "\t".join(["ID", "Tweet", *emotions.split()])
    texts = {
        "semeval-2018-ec": f"{header}\n7\tsuch a day!" + "\t0\t1" * 5 + "\t0\n",
        "emoint": "1\tsuch a day!\tjoy\t0.81\n2\tfine\tjoy\t0.34\n",
    }
    file = tmp_path / "net.txt"
    file.write_text(texts[name])
    gold, net = read_ratings(file), read_ratings(file, rater="net")
    assert gold.rater_names == ("consensus",)
    assert StepKind.AGGREGATED_BY_AUTHORS in kinds(gold)
    assert net.rater_names == ("net",)
    assert "aggregated" not in net.raters.columns
    assert net.history == ()
    assert net.value.tolist() == gold.value.tolist()
    assert net.merge(gold).n_raters == 2
