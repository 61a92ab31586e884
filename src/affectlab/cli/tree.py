"""The tree of verbs: what each is called, and where it is; only what is asked for is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cyclopts import App, Group

from affectlab.cli.operations import Choice, Command, Operation, verb_of
from affectlab.cli.parameters import as_command

Verb: TypeAlias = Command | Operation | Choice


@dataclass(frozen=True)
class Branch:
    """A group of verbs."""

    help: str
    verbs: Mapping[str, Verb | Branch]
    headings: Mapping[str, str] = field(default_factory=dict)
    """Headings in the list of verbs, each by the first verb below it."""
    epilogue: str | None = None


_CATEGORIES = ("categories",)
"""Classes need no order."""

TREE = Branch(
    "Rate, check, model and judge emotion data. Every person and every model is a rater.",
    {
        "demo": Command("cli.report:demo", "--out demo/"),
        "doctor": Command("cli.doctor:doctor", "--full"),
        "taxonomy": Branch(
            "Look at taxonomies of emotion; build one from texts, and revise it from pilots.",
            {
                "show": Command("cli.taxonomy.show:show", "goemotions"),
                "build": Command(
                    "cli.taxonomy.revision:build", "texts.csv --out mine", hidden=("folder",)
                ),
                "revise": Command("cli.taxonomy.revision:revise", "pilot.csv --taxonomy mine.toml"),
                "apply": Command(
                    "cli.taxonomy.revision:apply",
                    "mine/review.csv --out mine.toml --neutral neutral",
                ),
            },
        ),
        "ratings": Branch(
            "Describe, convert and fetch ratings.",
            {
                "describe": Command("cli.ratings:describe", "ratings.csv --save ratings.toml"),
                "convert": Command(
                    "cli.ratings:convert", "ratings.csv --scale 0-7 --out ratings.parquet"
                ),
                "fetch": Command(
                    "cli.ratings:fetch",
                    "goemotions-simplified --split train --out train.parquet",
                    hidden=("absent", "rater", "taxonomy"),
                ),
            },
        ),
        "reliability": Branch(
            "Agreement of raters, and scores of stimuli.",
            {
                "agreement": Choice(
                    "Measure how far raters agree: alpha, kappa, ICC; concordance; split halves.",
                    "method",
                    {
                        "coefficients": Operation(
                            "reliability.rater_agreement:rater_agreement",
                            "ratings.csv --scale 0-7 --level ordinal",
                        ),
                        "concordance": Operation(
                            "reliability.agreement.concordance:concordance",
                            "ratings.csv --scale 0-7 --models model.csv",
                        ),
                        "split-half": Operation(
                            "reliability.agreement.split_half:split_half",
                            "ratings.csv --n-splits 50",
                            people=True,
                        ),
                    },
                    rare=("missing", "scorer", "by_label", "max_iter", "tol"),
                ),
                "means": Operation(
                    "reliability.means:reliability_of_means",
                    "ratings.csv --scale 0-7 --wanted 0.9",
                ),
                "internal-consistency": Operation(
                    "reliability.internal_consistency:internal_consistency",
                    "ratings.csv --scale 0-7 --items joy,fear,awe --reverse fear",
                    people=True,
                ),
                "traces": Operation(
                    "reliability.traces:traces",
                    "traces.csv --scale 0-100 --out traces/",
                    people=True,
                ),
                "scores": Choice(
                    "Score each stimulus: by means, by a subject model, or by its true category.",
                    "method",
                    {
                        **dict.fromkeys(
                            ("mean", "reml", "p910", "mle"),
                            Operation(
                                "reliability.stimulus_scores:stimulus_scores",
                                "ratings.csv --out scores.csv",
                                people=True,
                            ),
                        ),
                        "dawid-skene": Operation(
                            "reliability.categories.dawid_skene:dawid_skene",
                            "binary.csv --out categories/",
                            people=True,
                        ),
                    },
                ),
                "screen": Choice(
                    "Find raters whose answers should not count: careless ones, and copies.",
                    "find",
                    {
                        "careless": Operation(
                            "reliability.screening.screen:screen",
                            "ratings.csv --policy bt500 --kept kept.csv",
                            people=True,
                            applied="--kept: Write the ratings that may be used to this file.",
                        ),
                        "duplicates": Operation(
                            "reliability.duplicates:duplicate_raters", "ratings.csv", people=True
                        ),
                    },
                ),
                "severity": Operation(
                    "reliability.severity.severity:rater_severity",
                    "ratings.csv --scale 0-7 --group gender",
                ),
                "components": Operation(
                    "reliability.components.components:variance_components",
                    "ratings.csv --k 1 --k 5 --figures figures",
                ),
                "groups": Operation(
                    "reliability.components.group_differences:group_differences",
                    "ratings.csv --scale 0-7",
                ),
                "mixed-model": Operation(
                    "reliability.components.fixed_effects:mixed_model",
                    "ratings.csv --fixed gender",
                ),
                "plan": Operation(
                    "reliability.planning.plan:plan",
                    "pilot.csv --goal 10 --n-stimuli 500",
                    people=True,
                ),
                "enough": Operation(
                    "reliability.planning.looks:enough_ratings",
                    "ratings.csv --scale 0-7 --width 0.2",
                ),
                "golden": Operation(
                    "reliability.screening.golden:choose_golden",
                    "pilot.csv --n 10 --out golden.csv",
                    people=True,
                ),
            },
            {
                "agreement": "Can the answers be trusted",
                "scores": "Stimuli and raters",
                "components": "Variance and levels",
                "plan": "Planning",
            },
        ),
        "analyze": Branch(
            "Structure of the answers: labels, words, dimensions, maps, reactions.",
            {
                "labels": Choice(
                    "Find which labels go together: correlations, clusters, dimensions (PPCA).",
                    "show",
                    {
                        "correlations": Operation(
                            "analysis.labels.correlations:label_correlations",
                            "ratings.csv --figures figures",
                            only_people=True,
                            hidden=("labels",),
                        ),
                        "clusters": Operation(
                            "analysis.labels.clusters:cluster_labels",
                            "ratings.csv --figures figures",
                            only_people=True,
                            hidden=("labels",),
                        ),
                        "dimensions": Operation(
                            "reliability.correlation.ppca:ppca",
                            "ratings.csv --out ppca/",
                            people=True,
                        ),
                    },
                    rare=("min_raters", "min_items", "n_splits", "alpha"),
                ),
                "circumplex": Operation(
                    "analysis.circumplex:circumplex",
                    "people.csv --scale 1-9 --figures figures",
                    only_people=True,
                ),
                "words": Operation(
                    "analysis.words.log_odds:log_odds",
                    "comments.csv --label joy --top 20",
                    only_people=True,
                    hidden=("labels", "names"),
                ),
                "map": Command("cli.analyze:label_map", "comments.csv --page map.html --most 5000"),
                "reactions": Command(
                    "cli.analyze:reactions", "reactions.json --out tables/", shows_result=True
                ),
            },
            epilogue="Whether one group or condition is rated higher: affectlab reliability "
            "mixed-model; whether models err more for one: affectlab evaluate fairness.",
        ),
        "evaluate": Branch(
            "Do models agree with people, and how do they err?",
            {
                "alignment": Operation(
                    "evaluation.human_alignment.alignment:alignment",
                    "people.csv --scale 0-7 --models model.csv --margin 0.05",
                ),
                "classification": Operation(
                    "evaluation.classification.evaluation:evaluate_classification",
                    "people.csv --models model.csv --taxonomy mikels",
                    # Where people are the truth, the function asks for them.
                    beside=(*_CATEGORIES, "no people"),
                ),
                "compare": Operation(
                    "evaluation.classification.comparison:compare_models",
                    "people.csv --a big --b small --models big.csv --models small.csv",
                    beside=_CATEGORIES,
                ),
                "recognition": Operation(
                    "evaluation.recognition:recognition",
                    "people.csv --intended shown --models net.csv",
                    beside=_CATEGORIES,
                ),
                "soft-labels": Choice(
                    "Judge models by the distribution of people's answers, also as LeWiDi does.",
                    "show",
                    {
                        "distributions": Operation(
                            "evaluation.soft_labels.evaluation:evaluate_soft_labels",
                            "people.csv --models net.csv --taxonomy mikels",
                            beside=_CATEGORIES,
                        ),
                        "lewidi": Operation(
                            "evaluation.soft_labels.disagreement:disagreement_metrics",
                            "people.csv --models net.csv",
                            beside=_CATEGORIES,
                        ),
                    },
                ),
                "fairness": Operation(
                    "evaluation.group_fairness.fairness:fairness",
                    "people.csv --models net.csv --by stimulus.gender",
                ),
                "outcomes": Operation(
                    "evaluation.outcomes:outcome_table",
                    "answers.csv --by model,prompt --figures figures/",
                ),
                "protocols": Operation(
                    "evaluation.protocols:protocol_effects", "people.csv --models asked.parquet"
                ),
                "controls": Operation(
                    "evaluation.controls.checks:control_checks", "people.csv --models answers.csv"
                ),
                "leaderboard": Command(
                    "cli.evaluate.leaderboard:leaderboard",
                    'results/ --out leaderboard.html --sort "top label"',
                ),
                "preference": Choice(
                    "Say which system people prefer in blind comparisons, and how surely.",
                    "show",
                    {
                        "shares": Operation(
                            "evaluation.preference.preferences:preferences",
                            "judgements.csv --scale nominal:A,B,both,neither",
                            people=True,
                            hidden=("choices",),
                        ),
                        "verdicts": Operation(
                            "evaluation.preference.verdicts:preference_verdicts",
                            "human=233,machine=91,both=47,neither=11 --sampled 500",
                            people=True,
                        ),
                        "scale": Operation(
                            "evaluation.preference.scale:preference_scale",
                            "arena.csv --scale nominal:A,B,both,neither --prior 0.5",
                            people=True,
                            hidden=("systems",),
                        ),
                    },
                    rare=("judge_cluster", "model", "system"),
                ),
                "preference-metrics": Operation(
                    "evaluation.preference.metrics:evaluate_preference_metrics",
                    "judgements.csv --scale nominal:A,B,both,neither --scores scores.csv",
                    people=True,
                    models_scale="interval",
                ),
                "difference": Operation(
                    "evaluation.differences.difference_metrics:difference_metrics",
                    "ratings.csv --models metrics.csv --by kind",
                    hidden=("names",),
                ),
                "text": Command(
                    "cli.evaluate.text:text",
                    "texts.csv --metric bart:facebook/bart-large-cnn --by source",
                    shows_result=True,
                    hidden=("confidence", "references"),
                ),
            },
            {
                "alignment": "Models and people",
                "outcomes": "Answers of models",
                "preference": "Preferences and metrics",
            },
        ),
        "stimuli": Branch(
            "What is shown, and learned from: corpora, prompts, pictures, frames, pairs.",
            {
                "curate": Command(
                    "cli.stimuli.texts:curate",
                    "RC_2019-01.zst --plan plan.toml --out curated/",
                    hidden=("part_rows", "resume", "steps"),
                ),
                "corpus": Command("cli.stimuli.texts:corpus", "goemotions_raw.csv --out corpus/"),
                "prompts": Command("cli.stimuli.pictures:prompts", "1000 --out prompts.csv"),
                "images": Command(
                    "cli.stimuli.pictures:images", "prompts.csv --out faces", hidden=("changed",)
                ),
                "coverage": Command(
                    "cli.stimuli.pictures:coverage",
                    "faces/manifest.csv --out coverage",
                    hidden=("attributes",),
                ),
                "frames": Command(
                    "cli.stimuli.transitions:frames",
                    "transitions/ --out five",
                ),
                "pairs": Command("cli.stimuli.transitions:pairs", "frames.csv --out pairs.csv"),
                "captions": Command(
                    "cli.stimuli.texts:captions",
                    "pairs.csv --random 20 --conflict 0 --out captions.csv",
                ),
                "review": Command("cli.stimuli.pictures:review", "faces/manifest.csv --out review"),
            },
            {"curate": "Texts", "prompts": "Faces", "captions": "Both"},
        ),
        "suggest": Operation(
            "reliability.planning.suggest:suggest_stimuli",
            "ratings.csv --n 50 --out next.csv",
            people=True,
        ),
        "study": Branch(
            "Ask people: a web study from one file, and its data.",
            {
                "init": Command(
                    "cli.study.design:init",
                    "my-study.toml --protocol multilabel",
                ),
                "check": Command("cli.study.design:check", "examples/study-faces.toml"),
                "simulate": Command("cli.study.running:simulate", "examples/study-faces.toml"),
                "serve": Command(
                    "cli.study.running:serve",
                    "examples/study-faces.toml",
                ),
                "invite": Command(
                    "cli.study.running:invite",
                    "my-study.toml --people 20 --base-url https://study.example.org",
                ),
                "status": Command("cli.study.answers:status", "examples/study-faces.toml"),
                "close": Command("cli.study.running:close", "examples/study-faces.toml --pause"),
                "golden": Command(
                    "cli.study.answers:golden", "my-study.toml --n 5 --out golden.csv"
                ),
                "export": Command(
                    "cli.study.answers:export", "examples/study-faces.toml --out data/"
                ),
                "erase": Command("cli.study.answers:erase", "my-study.toml r0123456789ab"),
                "user": Command(
                    "cli.study.answers:user", "examples/study-faces.toml add anna --role owner"
                ),
                "approve": Command("cli.study.payment:approve", "my-study.toml --all"),
                "reject": Command(
                    "cli.study.payment:reject",
                    'my-study.toml 7 --reason "one number was given to every face"',
                ),
                "pay": Command("cli.study.payment:pay", "my-study.toml --dry-run"),
            },
            {
                "init": "Before",
                "serve": "While it runs",
                "golden": "Answers and people",
                "approve": "Payment",
            },
        ),
        "embed": Command(
            "cli.embed:embed",
            "faces/ --out embeddings",
            hidden=("path",),
        ),
        "train": Branch(
            "Train models; each becomes a rater.",
            {
                "text": Command(
                    "cli.train.text:text",
                    "train.tsv --dev dev.tsv --out model/ --report report/",
                ),
                "heads": Command(
                    "cli.train.heads:heads",
                    "ratings.csv --embeddings emb/ --out heads/ --held-out identity",
                    alone=True,
                ),
                "crowd": Command(
                    "cli.train.crowd:crowd",
                    "ratings.csv --embeddings emb/ --out crowd/",
                    alone=True,
                    shows_result=True,
                ),
                "difference": Command(
                    "cli.train.learned:difference",
                    "scores.csv --embeddings emb/ --out metric/",
                    alone=True,
                ),
                "vision": Command(
                    "cli.train.images:vision",
                    "photos/ --backbone embedding:clip --loss rank --out model/",
                ),
                "semi": Command(
                    "cli.train.images:semi",
                    "photos/ --labelled-fraction 0.05 --strategy emc --out model/",
                    alone=True,
                ),
                "preference": Command(
                    "cli.train.learned:preference",
                    "judgements.csv --scores scores.csv --out metric/",
                    alone=True,
                ),
            },
        ),
        "calibrate": Command(
            "cli.train.heads:calibrate",
            "heads/ --neutral neutral/",
        ),
        "rate": Command(
            "cli.rate.door:rate",
            "SamLowe/roberta-base-go_emotions dev.tsv --out ratings.parquet",
            hidden=("ledger", "retrying"),
        ),
        "socratis": Branch(
            "Socratis: why a person feels an emotion about an image with its caption.",
            {
                "reactions": Command(
                    "cli.rate.reactions:reactions",
                    "pairs.csv --model Salesforce/blip2-flan-t5-xl --out blip2.csv",
                ),
            },
        ),
        "face-expressions": Branch(
            "FaceExpressions-70k: transitions between expressions, and what of them is noticed.",
            {
                "transitions": Choice(
                    "Follow expressions from their peak to neutral, and compare actors.",
                    "show",
                    {
                        "ranges": Operation(
                            "analysis.transitions.ranges:transition_ranges",
                            "ratings.csv --stimuli pairs.csv --figures figures",
                        ),
                        "curves": Operation(
                            "analysis.transitions.curves:transition_curves",
                            "ratings.csv --stimuli pairs.csv --frames frames.csv",
                        ),
                    },
                ),
                "expressions": Choice(
                    "Say which expressions look alike, whether the side matters, and how scores "
                    "spread.",
                    "show",
                    {
                        "differences": Operation(
                            "analysis.expressions.differences:expression_differences",
                            "ratings.csv --stimuli pairs.csv --figures figures",
                        ),
                        "asymmetry": Operation(
                            "analysis.expressions.asymmetry:asymmetry_tests",
                            "ratings.csv --stimuli pairs.csv",
                        ),
                        "histograms": Operation(
                            "analysis.expressions.histograms:score_histograms",
                            "ratings.csv --stimuli pairs.csv --figures figures",
                        ),
                    },
                    rare=("error_bins",),
                ),
                "jnd": Choice(
                    "Find just noticeable differences (JND): in scores, in steps from peak to "
                    "neutral, in time.",
                    "show",
                    {
                        "scores": Operation(
                            "analysis.jnd.score:jnd_scores", "ratings.csv --stimuli pairs.csv"
                        ),
                        "steps": Operation(
                            "analysis.jnd.steps:jnd_steps", "ratings.csv --stimuli pairs.csv"
                        ),
                        "times": Operation(
                            "analysis.jnd.times:jnd_times",
                            "ratings.csv --stimuli pairs.csv --frames five/frames.csv",
                        ),
                        "strips": Operation(
                            "analysis.jnd.strip:jnd_strips",
                            "ratings.csv --stimuli pairs.csv --frames five/frames.csv "
                            "--films films --figures figures",
                        ),
                    },
                ),
                "timing": Choice(
                    "Find how often a face must be sampled, and how late an avatar may be.",
                    "show",
                    {
                        "sampling": Operation(
                            "analysis.jnd.sampling_interval:sampling_interval",
                            "ratings.csv --stimuli pairs.csv --frames five/frames.csv",
                        ),
                        "latency": Operation(
                            "analysis.jnd.latency:latency_budget",
                            "ratings.csv --stimuli pairs.csv --frames five/frames.csv "
                            "--latency-ms 20",
                        ),
                    },
                ),
            },
            {"transitions": "Transitions and differences", "jnd": "What is noticed"},
        ),
        "emonet-face": Branch(
            "EmoNet-Face: consensus of experts, annotation with hints, and the paper's tables.",
            {
                "consensus": Operation("reliability.consensus:consensus_flow", "binary.csv --json"),
                "published": Operation(
                    "evaluation.rater_comparison.published:published_tables",
                    "people.csv --scale 0-7 --models model.csv",
                ),
                "hinted": Command(
                    "cli.rate.vlm:hinted",
                    "plan.toml --out big --model openai/gpt-4o-mini",
                ),
            },
        ),
        "report": Command("cli.report:report", "ratings.csv --scale 0-7 --out report/"),
        "reproduce": Command("cli.report:reproduce", "emonet-face --data emonet_face/"),
        "cite": Command("cli.cite:cite", "krippendorff_alpha icc"),
    },
    epilogue="Start with: affectlab demo — or: affectlab report ratings.csv --out report/",
)
"""All verbs."""


_COMPLETE, _INSTALL = "__complete", "--install-completion"
_HELP = ["--help", "-h"]
_BELOW: Mapping[str, Any] = {"version_flags": [], "help_epilogue": ""}
"""What a group or a verb does not have from the program."""


def verbs(branch: Branch = TREE, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Give the words of every verb, in the order in which lists show them."""
    for name, one in branch.verbs.items():
        if isinstance(one, Branch):
            yield from verbs(one, (*before, name))
        else:
            yield (*before, name)


def declared(branch: Branch = TREE) -> Iterator[Command | Operation]:
    """Give what verbs are made from; of a choice all that it chooses from."""
    for one in branch.verbs.values():
        if isinstance(one, Branch):
            yield from declared(one)
        elif isinstance(one, Choice):
            yield from one.operations
        else:
            yield one


def find_verb(words: Sequence[str]) -> Verb | None:
    """Find the verb that words begin with; None where they name none."""
    one: Verb | Branch | None = TREE
    for word in words:
        if not isinstance(one, Branch):
            break
        one = one.verbs.get(word)
    return None if isinstance(one, Branch) else one


def make_parser(words: Sequence[str] | None) -> App:
    """Make the parser of the command line.

    Parameters
    ----------
    words
        What is written behind the name of the program: of verbs that these do not ask for there is
        only what lists show. None: all verbs, with all their options.
    """
    from affectlab._version import __version__

    if words is not None:
        # The shell asks what can follow, or wants to be told all that there is.
        words = None if _INSTALL in words[:1] else words[_COMPLETE in words[:1] :]
    app = _branch(
        "affectlab",
        TREE,
        words,
        version=f"affectlab {__version__}",
        version_flags=["--version"],
        help_format="markdown",
        suppress_keyboard_interrupt=False,
        result_action="return_value",
        print_error=False,
        exit_on_error=False,
    )
    app.register_install_completion_command(
        _INSTALL, help="Let the shell complete what is typed.", help_flags=[], version_flags=[]
    )
    return app


def _branch(
    name: str,
    branch: Branch,
    words: Sequence[str] | None,
    before: tuple[str, ...] = (),
    **more: Any,
) -> App:
    own = {"help_epilogue": branch.epilogue or ""}
    app = App(name, help=branch.help, help_flags=_HELP, **{**_BELOW, **own, **more})
    where: dict[str, Any] = {}
    for place, (verb, one) in enumerate(branch.verbs.items()):
        asked = words is None or verb in words[:1]
        if verb in branch.headings:
            where["group"] = Group(branch.headings[verb], sort_key=place)
        where["sort_key"] = place
        if not isinstance(one, Branch):
            app.command(_verb((*before, verb), one, asked, **where))
        elif asked:
            following = None if words is None else words[1:]
            app.command(_branch(verb, one, following, (*before, verb), **where))
        else:
            # What is in a group is shown, and looked for, where the group is asked for.
            app.command(App(verb, help=one.help, help_flags=_HELP, **_BELOW, **where))
    return app


def _verb(words: tuple[str, ...], verb: Verb, asked: bool, **more: Any) -> App:
    more = {"help_flags": _HELP, **_BELOW, **more}
    if not asked:
        return App(words[-1], help=verb.summary, **more)
    app = App(words[-1], **{**more, "help_epilogue": verb.epilogue})
    app.default(as_command(verb_of(" ".join(words), verb)))
    return app
