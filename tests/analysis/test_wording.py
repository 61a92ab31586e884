"""Words of analysis: every sentence that its wording modules make, as it reads."""

# ruff: noqa: E501
from __future__ import annotations

import pytest

from affectlab.analysis import wording as room
from affectlab.analysis.expressions import wording as expressions
from affectlab.analysis.expressions.wording import Errors, SideProblem
from affectlab.analysis.jnd import wording as jnd
from affectlab.analysis.jnd.wording import Doubt
from affectlab.analysis.labels import wording as labels
from affectlab.analysis.reactions import wording as reactions
from affectlab.analysis.transitions import wording as transitions
from affectlab.analysis.words import wording as words
from affectlab.core.facts import Cause, Reason
from affectlab.core.wording import status_text

pytestmark = pytest.mark.wording

NAN = float("nan")
FEW = Reason(Cause.FEWER, least=3, of="labels")
ENDS = {"value": 0.75, "low": 0.6, "high": 0.9}
TEXTS = [
    (room.answer_above(0), "an answer above 0"),
    (
        room.pairs_text(2, 1, 2, 3, "scores as given"),
        "3 pairs: 2 intra and 1 inter, 2 actors, 3 expressions; scores as given",
    ),
    (room.other_kinds(1, ["known"]), "1 pair of kind 'known' excluded"),
    (room.unscored(2), "2 pairs without a score excluded"),
    (room.score_unit(0, 100), "score, 0 to 100"),
    (room.score_unit(None, None), "score"),
    (room.places_title("valence", "arousal", "film"), "valence and arousal by film"),
    (
        room.places_caption("valence", "arousal", 0.95),
        "Mean valence and arousal, with 95 % intervals.",
    ),
    (room.places_text(3, 0.95), "3 places with 95 % ellipses."),
    (
        room.ends_text("valence", "sea", 8.5, "war", 1.5),
        "Valence is highest for sea (8.50) and lowest for war (1.50).",
    ),
    (room.correlation_text(-0.25, 3), "Pearson correlation of the two over 3 places: −0.25."),
    (
        expressions.tests_text(5, 4, "greater", "score"),
        "4 of 5 t-tests defined; p is of the alternative 'greater', differences are in units of the score.",
    ),
    (
        expressions.sides_text({"right": 2, "left": 2}),
        "Expressions: 2 right, 2 left and 0 symmetric.",
    ),
    (
        expressions.side_note(SideProblem.UNMATCHED, ["wink"]),
        "1 expression without a mirror image, excluded from paired tests: wink",
    ),
    (
        expressions.side_note(SideProblem.UNCLEAR, ["look left right"]),
        "1 expression with both sides in the name, excluded from all tests: look left right",
    ),
    (
        expressions.side_note(SideProblem.LETTER, ["wink_l", "wink_r"]),
        "2 expressions with a single L or R in the name, treated as symmetric (see sides): wink_l and wink_r",
    ),
    (expressions.asymmetry_title("intra"), "Right minus left expressions, intra pairs"),
    (expressions.asymmetry_axis("intra", "score"), "right – left, mean over intra pairs (score)"),
    (
        expressions.differences_text(4, 2, expressions.averaging(adjusted=True)),
        "4 expressions, 2 actors: mean over actors, adjusted for actors and roles.",
    ),
    (
        expressions.priority_method(expressions.averaging(adjusted=False)),
        "mean difference from the others, mean over actors",
    ),
    (
        expressions.extreme_text("Least", "joy", "awe", 12.34, 1),
        "Least different: joy and awe (12.3, 1 actor).",
    ),
    (
        expressions.clusters_text(2, "given", expressions.tree_method("ward"), None),
        "2 clusters (given): ward linkage of mean differences.",
    ),
    (expressions.clusters_text(0, "given", "", FEW), "No clusters: fewer than three labels."),
    (
        expressions.heatmap_text(3, [["joy", "awe"], ["fear"]], None),
        "3 expressions. Clusters: joy, awe; fear.",
    ),
    (expressions.care_text("joy", "fear"), "Hardest to tell apart: joy; easiest: fear."),
    (
        expressions.difference_axis("score", from_others=True),
        "mean difference from the other expressions (score)",
    ),
    (
        expressions.not_linked(2),
        "actors form 2 groups with no pair of expressions in common, so that differences between groups may be differences between pairs",
    ),
    (
        expressions.not_compared(1, 6, ["awe"], filled=False),
        "1 of 6 pairs of expressions not compared; not clustered: awe",
    ),
    (
        expressions.not_compared(1, 6, [], filled=True),
        "1 of 6 pairs of expressions not compared; clusters use the sum of the effects of both expressions",
    ),
    (
        expressions.no_elbow(7, 12),
        "the elbow of the tree, at 7 clusters of 12 expressions, shows no groups",
    ),
    (
        expressions.errors_text(5, 2.5, (1.0, 2.0, 3.0), Errors.OF_PAIRS),
        "5 pairs. Mean standard error 2.50; quartiles 1.00 / 2.00 / 3.00 (standard errors from the ratings of each pair).",
    ),
    (expressions.errors_text(5, NAN, (NAN, NAN, NAN), None), "5 pairs."),
    (expressions.lacking_errors(1), "1 pair without a standard error"),
    (
        expressions.shared_errors(1, 300),
        "1 different standard error for 300 pairs: errors of raters or batches, not of pairs; expected a column se_stimulus, or ratings",
    ),
    (
        jnd.doubt_text(Doubt.BETWEEN_FRAMES, 33.3, None),
        "the shortest time is below the frame interval of the film (33 ms)",
    ),
    (
        jnd.doubt_text(Doubt.BEYOND_SEGMENT, 33.3, None),
        "the shortest time is extrapolated beyond its segment, which changes by less than 1 JND",
    ),
    (
        jnd.doubt_text(Doubt.LONG_SEGMENT, 33.3, 2.5),
        "the shortest time comes from a segment of 2.5 JNDs, and is likely too long: scores do not add up that far",
    ),
    (status_text("undefined", FEW), "undefined: fewer than three labels"),
    (jnd.end_status_text("peak", "ok", None), "from peak: ok"),
    (jnd.below_text({50.0: 0.9, 100.0: 0.5}, 1), "Below 1 JND: 90\xa0% within 50 ms, …."),
    (jnd.fewest_text("ann", 0.25, 50.0), "Fewest for ann: 25\xa0% within 50 ms."),
    (jnd.frames_statistic("peak"), "frames from peak to 1 JND"),
    (jnd.frames_text(4.0, 3.0, 5.5), "1 JND = 4.0 frames [3.0, 5.5]"),
    (jnd.frames_text(4.0, NAN, NAN), "1 JND = 4.0 frames"),
    (
        jnd.score_text(20.0, 18.0, 22.0, 24),
        "1 JND is 20.00 [18.00 to 22.00] in units of the score, median of 24 pairs.",
    ),
    (jnd.score_text(20.0, NAN, NAN, 0), "1 JND is 20.00 in units of the score, as given."),
    (jnd.scores_caption("actor"), "1 JND in units of the score, by actor."),
    (jnd.uncounted_pairs(2), "2 pairs not used: equal steps of transitions below about 2 JNDs"),
    (
        jnd.sampling_text(32.0, 25.0, float("inf"), 3, 2),
        (
            "Sample every 32.0 ms [25.0 to no end], 31 Hz, to keep 3 sequences below 1 JND between two samples.",
            "Chance that a further expression is faster: 1 in 4; a further person: 1 in 3.",
        ),
    ),
    (
        jnd.safe_text(25.0, 0.95, 48),
        "If faces move evenly between rated frames, 25.0 ms (40 Hz) is short enough with 97.5 % confidence; next common rate 48 Hz.",
    ),
    (
        jnd.shortest_text(32.0, {"ann": 32.0, "ben": 40.0}),
        "Shortest of all 32.0 ms; ann 32.0 ms, ben 40.0 ms.",
    ),
    (jnd.steps_text({"steps": 5.25, "ends": 4.0}, 1), "steps 5.2, ends 4.0 JNDs; 1 sequence."),
    (jnd.additivity_text(0.76), "The score of the two ends is 0.76 of the sum of the steps."),
    (jnd.strip_text("ann", "joy", 32.0), "ann, joy: 1 JND after 32 ms."),
    (
        jnd.untimed(1, "ann", "awe"),
        "1 sequence without the time of a frame excluded, such as ann awe",
    ),
    (jnd.still_segments(3, 6), "3 of 6 segments without positive change"),
    (jnd.times_text(3, 2, 20.0, [32.0]), "3 sequences, 2 actors, 1 JND = 20.00, shortest 32.0 ms."),
    (labels.tree_method("ward", "correlation"), "ward linkage, correlation distance"),
    (
        labels.clusters_text(27, 11, "silhouette", 0.03, "ward linkage"),
        "27 labels, 11 clusters (highest mean silhouette; silhouette 0.03): ward linkage.",
    ),
    (
        labels.clusters_text(3, 2, "given", None, "ward linkage"),
        "3 labels, 2 clusters (given): ward linkage.",
    ),
    (labels.weak_clusters(0.25), "A mean silhouette below 0.25 means that the clusters overlap."),
    (labels.not_in_tree(["awe"]), "Not clustered, since correlations are undefined: awe."),
    (labels.correlation_method("pearson"), "Pearson correlation over stimuli of mean answers"),
    (labels.correlations_text("pearson", 27), "Pearson correlations of 27 labels."),
    (
        labels.lacking_text(1, 3, ["undefined: constant answers"]),
        "1 of 3 pairs: undefined: constant answers.",
    ),
    (labels.excluded_text(["neutral"]), "Excluded: neutral."),
    (
        labels.spread_text(labels.components_text(0.8)),
        "principal components (two explain 80\xa0% of the variance), equal answers spread around their place",
    ),
    (labels.perplexity_text(30), "t-SNE, perplexity 30"),
    (labels.map_text(1, 2, "t-SNE"), "1 stimulus, 2 labels, t-SNE."),
    (
        labels.only_label("joy"),
        "'joy' is the only label, so that places show only how strong it is",
    ),
    (labels.only_neutral(2, "neutral"), "2 stimuli with no label but neutral excluded"),
    (labels.sampled(12, 20), "random sample of 12 of 20 stimuli"),
    (
        reactions.words_text(5, 3, 1),
        "5 emotion words as written, 3 emotions; 1 with corrected spelling.",
    ),
    (
        reactions.mapped_text(0.8, 0.9, "ekman"),
        "80\xa0% of the emotions and 90\xa0% of the reactions have a label in ekman.",
    ),
    (reactions.unmapped_text(["zorp", "meh"]), "Most frequent without a label: zorp, meh."),
    (
        reactions.lengths_evidence(8.0, 0.5, 3.0),
        "mean length 8.0 words, SD 0.5 (median of random samples: 3.0)",
    ),
    (reactions.openings_evidence("this image makes", 8, 9), "“this image makes …” opens 8 of 9"),
    (
        reactions.signs_text(2, 1, 4, 8, 9),
        "2 reasons with a phrase typical of machines; signs in 1 of 4 people with 8 reasons or more (9 in all). No sign is proof.",
    ),
    (reactions.agreement_method("TfidfScorer"), "P(higher), ties half: TfidfScorer"),
    (
        reactions.agreement_text(ENDS, 0.95, "cosine", 40),
        "Two reasons for the same emotion about the same pair are more alike than two unrelated ones in 75\xa0% of comparisons (95 % interval 0.60 to 0.90; chance 50\xa0%; cosine, 40 pairs of reasons).",
    ),
    (
        reactions.no_agreement("no two people agree"),
        "Agreement of reasons: not defined; no two people agree.",
    ),
    (
        reactions.sentiment_text(ENDS, 0.95, 0.5, 0.5),
        "75\xa0% of the reasons have the sentiment of their emotion (95 % interval 0.60 to 0.90; 50\xa0% by chance, kappa 0.50).",
    ),
    (
        reactions.copies_text(2, 90, 5, 1),
        "2 of 90 reasons of 5 words or more nearly equal another; 1 nearly equal part of their caption.",
    ),
    (
        reactions.diversity_method("conflict"),
        "mean over pairs: two people's emotions are of opposite polarity",
    ),
    (
        reactions.diversity_text(9, 3, 4, 5),
        "9 reactions of 3 people to 4 pairs of image and caption, with 5 emotions.",
    ),
    (reactions.bonus_text(3, 9), "3 of 9 answers name what most others named, and earn a bonus."),
    (reactions.masked_text(1), "1 piece of personal data masked."),
    (reactions.masked_text(0), "No personal data was found."),
    (
        reactions.emotions_figure(25, 90, "ekman"),
        "25 of 90 emotions, with labels and polarity of ekman.",
    ),
    (
        reactions.conflict_figure(4),
        "Emotions, and opposite polarity of two people's emotions; 4 pairs.",
    ),
    (transitions.curves_text(2, timed=True), "2 transitions, over time."),
    (
        transitions.rising_text(1),
        "1 transition with a rise towards neutral: measurement error, or uneven movement.",
    ),
    (
        transitions.without_curve(1, "undefined: no change"),
        "1 transition without a curve: undefined: no change.",
    ),
    (
        transitions.curve_axes("score", timed=False, shares=False),
        ("place in the transition", "difference from neutral (score)"),
    ),
    (transitions.half_head(timed=True), "half left after (ms), median"),
    (transitions.panels_text(2, "actor"), "2 transitions, one panel per actor."),
    (
        transitions.ranges_text(2, 3, ["fear"], shared=True),
        "2 expressions that all of 3 actors have; 1 excluded because some lack it: fear.",
    ),
    (
        transitions.ranges_text(3, 3, [], shared=False),
        "3 expressions of 3 actors, shared by all of them or not.",
    ),
    (
        transitions.extremes_text("joy", 20.0, "ann", "ben", "awe", 3.0),
        "Actors differ most in joy (20.0 from ann to ben) and least in awe (3.0).",
    ),
    (transitions.ranges_figure("joy", 71.0), "Largest median: joy, 71.0."),
    (transitions.ranges_axis("score"), "difference between peak and neutral (score)"),
    (
        words.odds_text(2, 9, 4, words.criterion_text("z", 3.0)),
        "2 labels, 9 words, 4 texts; words with z ≥ 3.",
    ),
    (
        words.of_label("joy", 2, words.criterion_text("bh", 3.0)),
        "Words that go with joy (2 texts), p ≤ 0.05 after Benjamini and Hochberg's correction.",
    ),
    (
        words.labels_rule(None, "an answer above 0"),
        "labels chosen by at least half of the raters (an answer above 0)",
    ),
    (
        words.labels_rule(2, "the chosen category"),
        "labels chosen by 2 or more raters (the chosen category)",
    ),
    (words.unlabelled(2), "2 texts without a label excluded"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_words(text: str | tuple[str, ...], expected: str | tuple[str, ...]) -> None:
    assert text == expected
