// The dashboard: which page is shown, and the news that keep it up to date.

import { byId, el } from "../dom.js";
import { accountsPage, changePassword, logPage } from "./admin.js";
import { get, post, toLogin, trust } from "./api.js";
import { decidePage, setLeast } from "./decide.js";
import { overviewPage } from "./overview.js";
import { ask } from "./parts.js";
import { personPage } from "./person.js";
import { STATUS, count, time } from "./words.js";

const POLL_MS = 15_000;

const known = { overview: null, statistics: null, problem: "" };
let me = null;
let page = null;
let hiding = 0;

const flagsOf = (rater) => (known.statistics?.flags ?? []).filter((flag) => flag.rater === rater);

/** Say something about what was just done; it goes away by itself. */
function said(sentence) {
  const place = byId("net");
  place.textContent = sentence;
  place.classList.add("shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => place.classList.remove("shown"), 8000);
}

const PAGES = [
  ["overview", "Overview", "viewer", () => overviewPage()],
  ["decide", "Decide", "viewer", () => decidePage(me, flagsOf, said)],
  ["log", "Log", "researcher", () => logPage(said)],
  ["accounts", "Accounts", "owner", () => accountsPage(me, said)],
];
const RANKS = ["viewer", "researcher", "owner"];
const mayDo = (role) => RANKS.indexOf(me.role) >= RANKS.indexOf(role);

/** Show the page that the address names; those who came from another one begin at its heading. */
function route(event) {
  const [, name, rest] = location.hash.split("/");
  const found = PAGES.find(([one, , role]) => one === name && mayDo(role)) ?? PAGES[0];
  const person = name === "people" && rest;
  page = person
    ? personPage(decodeURIComponent(rest), me, flagsOf, said)
    : found[3]();
  byId("stage").replaceChildren(page.node);
  const current = person ? "decide" : found[0];
  for (const link of byId("tabs").children) {
    if (link.dataset.page === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  page.update(known);
  if (event) {
    const heading = page.node.querySelector("h1");
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
  titled();
}

function titled() {
  const heading = page?.node.querySelector("h1").textContent ?? "Dashboard";
  document.title = `${heading} – ${known.overview?.title ?? "Dashboard"}`;
}

function drawTabs() {
  byId("tabs").replaceChildren(
    ...PAGES.filter(([, , role]) => mayDo(role)).map(([name, text]) =>
      el(
        "a",
        { href: `#/${name}`, "data-page": name },
        text,
        name === "decide" ? el("span", { class: "badge-count", id: "to-decide" }) : null,
      ),
    ),
  );
}

/** What every page shows: title, state of the study, and what can be done about it. */
function drawFrame() {
  const { overview } = known;
  byId("title").textContent = overview.title;
  const status = byId("status");
  status.textContent = STATUS[overview.status] ?? overview.status;
  status.className = `pill ${{ open: "good", paused: "warn" }[overview.status] ?? ""}`;
  const n = overview.verdicts.waiting;
  byId("to-decide").textContent = n ? count(n) : "";
  byId("to-decide").setAttribute("aria-label", `${count(n)} to decide`);
  drawControls(overview.status);
  byId("bottom").replaceChildren(
    el("span", { text: `${overview.name}, protocol ${overview.protocol}` }),
    overview.simulated
      ? el("span", { text: `${count(overview.simulated)} of ${count(overview.simulated + overview.humans)} participants are simulated` })
      : el("span", { text: `${count(overview.humans)} ${overview.humans === 1 ? "participant" : "participants"}` }),
  );
  titled();
}

let controlled = "";

function drawControls(status) {
  if (controlled === status) return;
  controlled = status;
  const buttons = [];
  const set = (to) => async () => {
    await post("status", { status: to });
    said(`The study is ${to} now.`);
    await refresh();
  };
  const change = (text, to, title, sentence, danger = false) =>
    el("button", {
      text,
      onclick: () => ask({ title, text: sentence, action: text, danger, run: set(to) }),
    });
  if (mayDo("researcher") && status === "open") {
    buttons.push(
      change("Pause", "paused", "Pause the study?", "Nobody new comes in. Those who have begun can finish."),
    );
  }
  if ((mayDo("researcher") && status === "paused") || (mayDo("owner") && status === "closed")) {
    const word = status === "paused" ? "Resume" : "Open again";
    buttons.push(change(word, "open", `${word}?`, "New participants can come in."));
  }
  if (mayDo("owner") && status !== "closed") {
    buttons.push(
      change("Close", "closed", "Close the study?", "Nobody can answer any more, not even those who have begun. You can open it again.", true),
    );
  }
  byId("controls").replaceChildren(
    ...buttons,
    el(
      "details",
      { class: "menu" },
      el("summary", { text: me.name }),
      el(
        "div",
        { class: "menu-body" },
        el("p", { class: "soft small", text: `${me.role}, logged in until ${time(me.expires_at)}` }),
        el("button", { text: "Change password", onclick: () => changePassword(said) }),
        el("button", { text: "Log out", onclick: logOut }),
      ),
    ),
  );
}

async function logOut() {
  try {
    await post("logout");
  } finally {
    toLogin();
  }
}

function take(news) {
  Object.assign(known, news);
  if (known.overview) drawFrame();
  page.update(known);
}

async function refresh() {
  take(await get("overview"));
}

function live(text, kind) {
  const place = byId("live");
  if (place.textContent === text) return;
  place.textContent = text;
  place.className = `live ${kind}`;
}

/** Listen to news; where that cannot be had, ask every now and then. */
function listen() {
  const source = new EventSource("/dashboard/api/stream");
  source.addEventListener("open", () => live("Live", "on"));
  for (const kind of ["overview", "statistics"]) {
    source.addEventListener(kind, (event) => {
      live("Live", "on");
      take({ [kind]: JSON.parse(event.data) });
    });
  }
  source.addEventListener("problem", (event) => take({ problem: JSON.parse(event.data).sentence }));
  source.addEventListener("ended", () => {
    source.close();
    toLogin();
  });
  source.addEventListener("error", () => {
    // The browser tries again by itself, unless the server has refused.
    if (source.readyState !== EventSource.CLOSED) live("Reconnecting …", "off");
    else poll();
  });
}

function poll() {
  live(`Every ${POLL_MS / 1000} s`, "off");
  setTimeout(async () => {
    try {
      await refresh();
      poll();
    } catch (error) {
      if (error.status === 401) toLogin();
      else poll();
    }
  }, POLL_MS);
}

async function begin() {
  me = await get("me");
  trust(me.csrf);
  setLeast(me.least_reason);
  drawTabs();
  const first = await get("overview");
  Object.assign(known, first);
  drawFrame();
  route();
  addEventListener("hashchange", route);
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("stage").focus();
  });
  listen();
}

begin().catch((error) => {
  if (error.status === 401) toLogin();
  else byId("stage").replaceChildren(el("h1", { text: "The dashboard cannot be shown" }), el("p", { text: error.message }));
});
