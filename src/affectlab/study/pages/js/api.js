// Talking to the server. An answer is kept in this browser until the server has confirmed that it
// is stored, and sent again under the same key until then; the server stores it once.

import { byId } from "./dom.js";
import { t } from "./texts.js";

const KEPT = "affectlab-unsent";
const WAITS = [500, 1000, 2000, 4000, 8000, 15000];

let csrf = "";

/** What the server refused, with the sentence that says why. */
export class Refused extends Error {
  constructor(status, code, sentence) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

/** The state of this browser's session; null when there is none yet. */
export const session = () => request("GET", "/api/session");

export const enter = (message) => request("POST", "/api/enter", message);
export const advance = (stage, data = {}) => request("POST", "/api/advance", { stage, data });
export const skip = (trial, reason) => request("POST", "/api/skip", { trial, reason });
export const withdraw = () => request("POST", "/api/withdraw", {});

/** Tell the server what the page noticed; nothing depends on it. */
export function report(kind, body = {}) {
  fetch("/api/events", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF": csrf },
    body: JSON.stringify({ kind, body }),
    keepalive: true,
  }).catch(() => {}); // An event that is lost is no loss of data.
}

/** Send an answer until it is stored; give the new state. */
export async function answer(message) {
  const kept = { ...message, key: message.key ?? newKey() };
  keep(kept);
  const state = await request("POST", "/api/answers", kept);
  forget();
  return state;
}

/** Send again what an earlier visit could not; give the new state, or null when nothing was kept. */
export async function resend(trial) {
  const kept = recall();
  if (!kept || kept.trial !== trial) {
    forget();
    return null;
  }
  try {
    const state = await request("POST", "/api/answers", kept);
    report("resent");
    return state;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return null;
  } finally {
    forget();
  }
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Storage may be switched off; then an answer lives as long as the page.
let inMemory = null;

function keep(message) {
  inMemory = message;
  try {
    localStorage.setItem(KEPT, JSON.stringify(message));
  } catch {
    report("slow", { storage: "off" });
  }
}

function recall() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? inMemory;
  } catch {
    return inMemory;
  }
}

function forget() {
  inMemory = null;
  try {
    localStorage.removeItem(KEPT);
  } catch {
    inMemory = null;
  }
}

/** Make a request, again and again while the network or the server fails. */
async function request(method, path, message) {
  for (let attempt = 0; ; attempt += 1) {
    let reply = null;
    try {
      reply = await fetch(path, {
        method,
        headers: { "Content-Type": "application/json", "X-CSRF": csrf },
        body: message === undefined ? undefined : JSON.stringify(message),
      });
    } catch {
      reply = null; // No network, or no server: told to the participant and tried again.
    }
    if (reply && reply.status < 500 && reply.status !== 429) {
      say("");
      if (reply.status === 204) return null;
      const content = await reply.json();
      if (!reply.ok) {
        const { code, sentence } = content.error;
        throw new Refused(reply.status, code, sentence);
      }
      csrf = content.csrf ?? csrf;
      return content;
    }
    say(t(reply ? "net.busy" : "net.offline"));
    await waitFor(WAITS[Math.min(attempt, WAITS.length - 1)]);
  }
}

/** Wait, but not longer than until the network is back. */
function waitFor(milliseconds) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    window.addEventListener("online", done);
  });
}

function say(text) {
  const place = byId("net");
  if (place.textContent !== text) place.textContent = text;
  place.classList.toggle("shown", Boolean(text));
}
