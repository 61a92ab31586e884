// The overview: how the study goes, kept up to date as news come.

import { el } from "../dom.js";
import { get } from "./api.js";
import { bars, cells, share, whisker } from "./charts.js";
import { card, facts, moment, more, pager, raterLink, table } from "./parts.js";
import {
  ENDINGS,
  STAGES,
  STATUS,
  count,
  duration,
  fixed,
  money,
  percent,
  plural,
  time,
} from "./words.js";

const MOST_LABELS = 12;
const MOST_FLAGGED = 6;
const MOST_LATELY = 8;
const FEWEST_BARS = 6;

export function overviewPage() {
  const cards = {
    progress: card("Progress", "", progress),
    cost: card("Cost", "", cost),
    agreement: card("Agreement", "", agreement),
    times: card("Time per trial", "", times),
    flags: card("People to look at", "", flagged),
    sessions: card("Sessions", "", sessions),
    coverage: card("Stimuli", "", coverage),
    activity: card("Lately", "", activity),
  };
  const node = el(
    "div",
    { class: "grid" },
    el("h1", { class: "hidden", text: "Overview" }),
    ...[
      [cards.progress, cards.agreement, cards.flags, cards.coverage],
      [cards.cost, cards.times, cards.sessions, cards.activity],
    ].map((column) => el("div", { class: "column" }, ...column.map((one) => one.node))),
  );
  return {
    node,
    update({ overview, statistics, problem }) {
      if (!overview) return;
      cards.progress.update(overview.progress, overview.pace);
      cards.cost.update(overview.cost, overview.progress);
      cards.agreement.update(statistics && [statistics.overall, statistics.labels], problem);
      cards.times.update(statistics && [statistics.times, statistics.medians, speeds(statistics)]);
      cards.flags.update(statistics && [statistics.flags, statistics.screening, statistics.notes]);
      cards.sessions.update(overview.stages, overview.verdicts, overview.pace.active);
      cards.coverage.update(overview.coverage, overview.depth, overview.progress);
      cards.activity.update(overview.activity);
    },
  };
}

const waiting = () => el("p", { class: "soft", text: "Being computed …" });

function progress(now, pace) {
  const done = now.wanted ? now.counted / now.wanted : 0;
  const left = now.wanted - now.counted;
  const size = pace.bucket_ms / 1000;
  const story = `Answers over time, ${duration(size)} to a bar.`;
  return [
    el(
      "p",
      { class: "big" },
      el("strong", { text: percent(done) }),
      ` ${count(now.counted)} of ${count(now.wanted)} valid answers`,
    ),
    el("progress", { max: Math.max(1, now.wanted), value: now.counted, "aria-label": "Valid answers" }),
    facts([
      ["Tasks done", `${count(now.tasks_done)} of ${count(now.tasks)}`],
      ["Batches done", now.batches ? `${count(now.batches.done)} of ${count(now.batches.batches)}` : null],
      ["Valid sessions", now.batches ? `${count(now.batches.sessions)} of ${count(now.batches.wanted)}` : null],
      ["Answering now", count(pace.active)],
      ["Tasks held", count(now.held)],
      ["Each hour", count(pace.per_hour)],
      ["Left", left === 0 ? "nothing" : pace.hours_left === null ? "–" : `about ${duration(pace.hours_left * 3600)}`],
      ["Rejected", count(now.rejected)],
      ["Trials left out", now.skipped ? count(now.skipped) : null],
      ["Pilot", now.pilot[1] ? `${count(now.pilot[0])} of ${count(now.pilot[1])}` : null],
    ]),
    pace.buckets.length >= FEWEST_BARS
      ? el(
          "figure",
          {},
          bars(pace.buckets, `${story} At most ${Math.max(...pace.buckets)}.`, {
            ticks: [
              [0, time(pace.first_at)],
              [1, time(pace.first_at + pace.buckets.length * pace.bucket_ms)],
            ],
          }),
          el("figcaption", { class: "soft small", text: story }),
        )
      : null,
  ];
}

function cost(now, state) {
  if (!now) {
    return el("p", { class: "soft", text: "The study file names no payment (recruitment.pay)." });
  }
  const left = state.wanted - state.counted;
  return [
    el("p", { class: "big" }, el("strong", { text: money(now.spent, now.currency) }), " so far"),
    facts([
      ["When all is done", money(now.projected, now.currency)],
      ["Sessions paid", `${count(now.sessions)} of ${count(now.projected_sessions)}`],
      ["A session", money(now.pay, now.currency)],
      ["A valid answer", now.per_answer === null ? "–" : money(now.per_answer, now.currency)],
    ]),
    el("p", {
      class: "soft small",
      text:
        "Completed sessions that are not rejected; fees of a platform are not counted." +
        (left ? " The end is told from the sessions so far." : ""),
    }),
  ];
}

function agreement(found, problem) {
  const trouble = problem ? el("p", { class: "note", text: problem }) : null;
  if (!found) return trouble ?? waiting();
  const [overall, labels] = found;
  if (overall.value === null) {
    return [trouble, el("p", { class: "soft", text: `No value yet: ${overall.status.replace(/^undefined: /, "")}.` })];
  }
  const known = labels.filter((one) => one.value !== null);
  const values = [overall, ...known].flatMap((one) => [one.value, one.low ?? one.value]);
  const from = Math.min(0, Math.floor(Math.min(...values) * 5) / 5);
  const ranked = [...labels].sort((a, b) => (a.value ?? 2) - (b.value ?? 2));
  const few = labels.length > MOST_LABELS ? ranked.slice(0, MOST_LABELS - 4) : ranked;
  return [
    trouble,
    el(
      "p",
      { class: "big" },
      el("strong", { text: fixed(overall.value) }),
      overall.low === null
        ? ` ${overall.status}`
        : ` 95 % interval ${fixed(overall.low)} to ${fixed(overall.high)}`,
    ),
    el("p", {
      class: "soft small",
      text:
        `Krippendorff's alpha${labels.length ? `, the mean of ${plural(known.length, "label")}` : ""}, ` +
        `over ${plural(overall.n_items, "stimulus", "stimuli")} and ` +
        `${plural(overall.n_raters, "rater")}: 1 is perfect, 0 is what chance gives. ` +
        "Intervals are about other stimuli and raters, and of one look." +
        (overall.width === null
          ? ""
          : ` Whoever looks often, to stop when the interval is narrow enough, goes by the one that ` +
            `holds at any look: ${fixed(overall.width)} wide now.`),
    }),
    labels.length ? labelTable(few, from, "Agreement by label, the lowest first") : null,
    few.length < labels.length
      ? more(
          "labels",
          `All ${labels.length} labels`,
          labelTable(ranked, from, "Agreement on all labels, the lowest first"),
        )
      : null,
  ];
}

function labelTable(labels, from, caption) {
  const rows = labels.map((one) => [
    one.label,
    whisker(one.value, one.low, one.high, from, 1),
    fixed(one.value),
    one.low === null
      ? el("span", { class: "soft", text: one.value === null ? one.status : "too little" })
      : `${fixed(one.low)} to ${fixed(one.high)}`,
    count(one.n_items),
  ]);
  const columns = [
    ["Label", ""],
    [`${fixed(from, from ? 1 : 0)} to 1`, "chart-cell"],
    ["Alpha", "number"],
    ["95 % interval", "number"],
    ["Stimuli", "number spare"],
  ];
  return table(caption, columns, rows, "labels");
}

const speeds = (statistics) =>
  statistics.flags.filter((one) => one.rule === "fast" || one.rule === "slow").map((one) => one.rater);

function times(found) {
  if (!found) return waiting();
  const [all, medians, far] = found;
  if (!all.n) return el("p", { class: "soft", text: "No answer counts yet." });
  const [first, last] = [all.edges[0], all.edges[all.edges.length - 1]];
  const at = (seconds) =>
    Math.min(1, Math.max(0, Math.log(seconds / first) / Math.log(last / first)));
  const dots = Object.entries(medians)
    .slice(0, 400)
    .map(([rater, seconds]) => ({ place: at(Math.max(seconds, first)), far: far.includes(rater) }))
    .sort((a, b) => a.far - b.far);
  const middle = `half of them from ${duration(all.low)} to ${duration(all.high)}`;
  return [
    el("p", { class: "big" }, el("strong", { text: duration(all.median) }), " median"),
    el("p", { class: "soft small", text: `${plural(all.n, "answer")}, ${middle}.` }),
    el(
      "figure",
      {},
      bars(
        all.counts,
        `Times of ${plural(all.n, "answer")}: median ${duration(all.median)}, ${middle}. ` +
          `${plural(far.length, "person is", "people are")} far from the others.`,
        {
          ticks: [1, 4, 16, 64].map((seconds) => [at(seconds), `${seconds} s`]),
          dots,
          mark: at(all.median),
        },
      ),
      el("figcaption", {
        class: "soft small",
        text: "Dots: the median of each person, filled where it is far from the others'.",
      }),
    ),
  ];
}

function flagged(found) {
  if (!found) return waiting();
  const [flags, screening, notes] = found;
  const by = new Map();
  for (const flag of flags) by.set(flag.rater, [...(by.get(flag.rater) ?? []), flag]);
  const items = [...by].map(([rater, own]) =>
    el("li", {}, raterLink(rater), ...own.map((one) => flagLine(one))),
  );
  return [
    items.length
      ? el("ul", { class: "flags" }, ...items.slice(0, MOST_FLAGGED))
      : el("p", { class: "soft", text: "Nobody stands out so far." }),
    items.length > MOST_FLAGGED
      ? more("flags", `All ${items.length} people`, el("ul", { class: "flags" }, ...items.slice(MOST_FLAGGED)))
      : null,
    screening
      ? el("p", { class: "soft small", text: `By ${screening}, and by times. A flag is a reason to look, not a verdict.` })
      : null,
    notes.length
      ? more("notes", "What could not be judged", el("ul", {}, ...notes.map((text) => el("li", { text }))))
      : null,
  ];
}

/** One flag: its sentence, and what the policy makes of it. */
export function flagLine(flag) {
  const against = flag.against.length ? `against ${flag.against.join(" and ")}` : "";
  return el(
    "p",
    { class: "flag" },
    // A true minus, as elsewhere on the page.
    flag.sentence.replace(/(^|\s)-(?=\d)/g, "$1\u2212"),
    flag.session ? ` (session ${flag.session})` : "",
    against ? el("span", { class: "pill warn", text: against }) : null,
  );
}

function sessions(stages, verdicts, active) {
  const most = Math.max(1, ...stages.map(([, n]) => n));
  if (!stages.length) return el("p", { class: "soft", text: "Nobody has come yet." });
  const rows = stages.map(([stage, n]) => [STAGES[stage] ?? stage, share(n / most), count(n)]);
  const columns = [["Stage", ""], ["Share", "chart-cell"], ["Sessions", "number"]];
  return [
    table("Sessions by stage", columns, rows, "stages"),
    facts([
      ["To decide", el("a", { href: "#/decide", "data-key": "decide", text: count(verdicts.waiting) })],
      ["Approved", count(verdicts.accepted)],
      ["Rejected", count(verdicts.rejected)],
      ["Here now", count(active)],
    ]),
  ];
}

function coverage(shares, depth, now) {
  const full = shares.filter((one) => one >= 1).length;
  const begun = shares.filter((one) => one > 0 && one < 1).length;
  const none = shares.length - full - begun;
  const story = `${plural(shares.length, "stimulus", "stimuli")}: ${full} done, ${begun} begun, ${none} without an answer`;
  const rows = depth.map(([valid, n]) => [count(valid), share(n / now.tasks), count(n)]);
  const columns = [["Valid answers", ""], ["Share", "chart-cell"], ["Tasks", "number"]];
  return [
    shares.length ? cells(shares, story) : null,
    shares.length
      ? el("p", { class: "soft small", text: `${story}. Each cell is a stimulus, filled as far as it is done.` })
      : table("Tasks by number of valid answers", columns, rows, "stages"),
    leastDone(),
  ];
}

function leastDone() {
  const place = el("div", {});
  const limit = 20;
  async function load(offset) {
    const { total, rows } = await get(`stimuli?offset=${offset}&limit=${limit}`);
    const lines = rows.map((one) => [one.stimulus, `${one.done} of ${one.wanted}`, count(one.held)]);
    const columns = [["Stimulus", "name"], ["Valid answers", "number"], ["Held now", "number"]];
    place.replaceChildren(
      ...[table("Stimuli, those with the least done first", columns, lines), pager(total, offset, limit, load)].filter(Boolean),
    );
  }
  const made = more("least", "Stimuli by name, the least done first", place);
  made.addEventListener("toggle", () => {
    if (!made.open) return;
    load(0).catch((error) => place.replaceChildren(el("p", { class: "error", text: error.message })));
  });
  return made;
}

const DID = {
  entered: () => "came in",
  completed: () => "completed",
  ended: (one) => (ENDINGS[one.reason] ? `ended: ${ENDINGS[one.reason]}` : "ended early"),
  withdrawn: () => "withdrew",
  accepted: (one) => `approved by ${one.by ?? "somebody"}`,
  rejected: (one) => `rejected by ${one.by ?? "somebody"}`,
};

function activity(items) {
  if (!items.length) return el("p", { class: "soft", text: "Nothing has happened yet." });
  return el(
    "ul",
    { class: "feed" },
    ...items.slice(0, MOST_LATELY).map((one) =>
      el(
        "li",
        {},
        moment(one.at),
        el(
          "span",
          {},
          one.rater ? raterLink(one.rater, `feed-${one.id}`) : "",
          one.kind === "study_status"
            ? `${(STATUS[one.status] ?? one.status).toLowerCase()} by ${one.by ?? "command line"}`
            : ` ${(DID[one.kind] ?? (() => one.kind))(one)}`,
        ),
      ),
    ),
  );
}
