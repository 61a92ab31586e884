// A page of the study's own, such as a jsPsych timeline, in a frame that is shut off from this one:
// it gets what to show, and gives back the trials it recorded. Each run has a nonce, so that nothing
// that a frame said earlier, or another frame says, is taken for its answer.

import * as api from "./api.js";
import { el } from "./dom.js";
import { t } from "./texts.js";

const LARGEST = 6000;

export function frame({ trial, send, problem, images }) {
  const { address, largest_kb: limit, parameters } = trial.frame;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const nonce = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const inner = el("iframe", {
    class: "frame",
    title: t("frame.title"),
    sandbox: "allow-scripts allow-forms",
    referrerpolicy: "no-referrer",
    src: `${address}#${nonce}`,
  });
  let started = false;
  const start = async () => {
    if (started) return;
    started = true;
    // The frame has no cookie, so that it could not ask for pictures itself.
    const pictures = await Promise.all(
      images.map((image) => fetch(image.src).then((reply) => reply.blob())),
    );
    const stimulus = { name: trial.position, images: pictures, texts: trial.stimulus.texts, parameters };
    const message = { affectlab: "start", nonce, stimulus, language: document.documentElement.lang };
    // The frame's origin has no name that could be given here.
    inner.contentWindow.postMessage(message, "*");
    inner.focus();
  };
  const failed = (sentence) => {
    api.report("frame_error", { sentence: String(sentence).slice(0, 300) });
    problem.replaceChildren(
      el("span", { text: t("frame.failed") }),
      " ",
      el("button", { type: "button", text: t("error.again"), onclick: () => location.reload() }),
    );
  };
  const finished = (trials) => {
    const size = new Blob([JSON.stringify(trials)]).size;
    if (!Array.isArray(trials) || !trials.length) failed("no trials were recorded");
    else if (size > limit * 1024) failed(`${size} bytes are more than ${limit} kB`);
    else send({ trials });
  };
  const listen = (event) => {
    if (!inner.isConnected) {
      window.removeEventListener("message", listen);
      return;
    }
    if (event.source !== inner.contentWindow || event.data?.nonce !== nonce) return;
    const { affectlab: kind, height, trials, sentence } = event.data;
    if (kind === "ready") start().catch((error) => failed(error.message));
    else if (kind === "size" && Number.isFinite(height)) {
      // It grows with what it shows, and never shrinks under the participant's finger.
      const wanted = Math.min(LARGEST, Math.ceil(height));
      if (wanted > inner.clientHeight) inner.style.height = `${wanted}px`;
    } else if (kind === "finished") finished(trials);
    else if (kind === "failed") failed(sentence);
  };
  window.addEventListener("message", listen);
  return { layout: "framed", shown: [], node: inner, onKey: null };
}
