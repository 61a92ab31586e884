// The page of a participant: asks the server where the session is, and shows that stage.

import * as api from "./api.js";
import { byId, el, show } from "./dom.js";
import { loadTexts, t } from "./texts.js";
import * as stages from "./stages.js";
import { showTrial } from "./trial.js";

const STAGES = {
  consent: stages.consent,
  demographics: stages.demographics,
  instructions: stages.instructions,
  quiz: stages.quiz,
  trials: showTrial,
  waiting: stages.waiting,
  complete: stages.complete,
  ended: stages.ended,
};

/** What an address can tell of a visitor, by the names of the rules of who may take part. */
const RULES = ["approval_rate", "approved", "countries", "languages", "degree_verified"];

let language = "";

/** Show a state that came from the server. */
async function render(state) {
  if (state.language !== language) {
    language = state.language;
    await loadTexts(language);
  }
  frame(state);
  STAGES[state.stage](state, { go, fail });
}

/** Do something that gives a new state, and show it; say so when it is refused. */
async function go(work) {
  try {
    await render(await work());
  } catch (error) {
    await fail(error);
  }
}

async function fail(error) {
  if (!(error instanceof api.Refused)) throw error;
  // Another window of this browser may have gone on: show where the session is.
  if (error.status === 409) {
    const state = await api.session();
    if (state) {
      await render(state);
      return;
    }
  }
  show(
    el("h1", { text: t("error.title") }),
    el("p", { class: "note", text: error.message }),
    el("button", { type: "button", text: t("error.again"), onclick: () => location.reload() }),
  );
}

function frame(state) {
  document.title = state.study.title;
  byId("title").textContent = state.study.title;
  byId("skip").textContent = t("skip");
  const { done, total } = state.progress;
  byId("progress").hidden = state.stage !== "trials";
  byId("bar").max = Math.max(total, 1);
  byId("bar").value = done;
  byId("bar").setAttribute("aria-label", t("progress.label"));
  byId("count").textContent = t("progress.count", { done, total });
  const running = !["complete", "ended"].includes(state.stage);
  byId("bottom").replaceChildren(
    ...(state.study.contact
      ? [el("span", { text: t("contact", { contact: state.study.contact }) })]
      : []),
    ...(running && state.stage !== "consent"
      ? [el("button", { type: "button", class: "quiet", text: t("withdraw"), onclick: () => leave(state.study.drops_on_withdrawal) })]
      : []),
  );
}

function leave(drops) {
  if (window.confirm(t(drops ? "withdraw.sure" : "withdraw.sure.keep"))) go(api.withdraw);
}

/** What the address of the page says of the visitor. */
function visitor() {
  const query = new URLSearchParams(location.search);
  const invitation = location.pathname.match(/^\/p\/([^/]+)$/);
  const found = { language: query.get("lang") ?? navigator.language.slice(0, 2) };
  if (invitation) found.invitation = decodeURIComponent(invitation[1]);
  if (query.get("code")) found.code = query.get("code");
  if (query.get("PROLIFIC_PID")) found.prolific_pid = query.get("PROLIFIC_PID");
  if (query.get("participantId")) found.participant_id = query.get("participantId");
  const work = query.get("SESSION_ID") ?? query.get("assignmentId");
  if (work) found.external_session = work;
  const from = query.get("STUDY_ID") ?? query.get("projectId");
  if (from) found.external_study = from;
  const told = RULES.filter((rule) => query.has(rule)).map((rule) => [rule, query.get(rule)]);
  if (told.length) found.told = Object.fromEntries(told);
  return found;
}

async function start() {
  const who = visitor();
  const named = who.invitation || who.prolific_pid || who.participant_id;
  let state = named ? null : await api.session();
  if (state && ["complete", "ended"].includes(state.stage) && location.pathname === "/") state = null;
  if (!state) state = await api.enter(who);
  // The address holds a secret: it leaves the bar and the history.
  if (location.pathname !== "/take") history.replaceState(null, "", "/take");
  if (state.stage === "trials" && state.trial) {
    language = state.language;
    await loadTexts(language);
    state = (await api.resend(state.trial.id)) ?? state;
    if (state.progress.done > 0) api.report("resumed");
  }
  await render(state);
}

document.addEventListener("visibilitychange", () => {
  api.report(document.hidden ? "blur" : "focus");
});

await loadTexts((navigator.language || "en").slice(0, 2)).catch(() => loadTexts("en"));
start().catch(fail);
