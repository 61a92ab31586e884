// Inside the frame: tells the study's own scripts what to show, and hands on what they recorded.
//
// `affectlab.stimulus` has `name` (the number of the trial), `images` (addresses), `texts` and
// `parameters` (columns of the table); `affectlab.language` the language of the page. When all is
// done, call `affectlab.finish(jsPsych)`, or give it a list of trials.

(() => {
  const nonce = location.hash.slice(1);
  const scripts = JSON.parse(document.currentScript.dataset.scripts);
  let finished = false;
  let asked = 0;

  // Only our own page can be around this one (frame-ancestors), so that "*" reaches nobody else.
  const tell = (kind, more = {}) => parent.postMessage({ affectlab: kind, nonce, ...more }, "*");
  const fail = (sentence) => tell("failed", { sentence: String(sentence).slice(0, 300) });

  /** The trials in what a script hands over: jsPsych, its data, JSON, or a list. */
  function trialsOf(result) {
    const data = result?.data?.get ? result.data.get() : result;
    const text = typeof data?.json === "function" ? data.json() : data;
    const trials = typeof text === "string" ? JSON.parse(text) : text;
    if (!Array.isArray(trials)) throw new TypeError("affectlab.finish: expected jsPsych, or a list of trials");
    // Only what JSON can hold goes over the wire.
    return JSON.parse(JSON.stringify(trials));
  }

  function finish(result) {
    if (finished) return;
    const trials = trialsOf(result);
    finished = true;
    tell("finished", { trials });
  }

  function begin({ stimulus, language }) {
    document.documentElement.lang = language;
    const images = stimulus.images.map((picture) => URL.createObjectURL(picture));
    window.affectlab = Object.freeze({
      stimulus: Object.freeze({ ...stimulus, images }),
      language,
      finish,
    });
    for (const address of scripts) {
      const script = document.createElement("script");
      // Else browsers would not say what went wrong in it.
      script.crossOrigin = "anonymous";
      script.src = address;
      script.async = false; // They run in the order in which the study names them.
      script.onerror = () => fail(`The script ${address} could not be loaded.`);
      document.head.append(script);
    }
    grow();
    new ResizeObserver(grow).observe(document.body);
    new MutationObserver(grow).observe(document.body, { childList: true, subtree: true });
  }

  /** Ask for more height when something does not fit. */
  function grow() {
    const height = document.documentElement.scrollHeight;
    if (height > innerHeight && height > asked) {
      asked = height;
      tell("size", { height });
    }
  }

  window.addEventListener("message", (event) => {
    if (event.source !== parent || event.data?.affectlab !== "start" || event.data.nonce !== nonce) return;
    if (!window.affectlab) begin(event.data);
  });
  window.addEventListener("error", (event) => {
    if (event.message) fail(event.message);
  });
  window.addEventListener("unhandledrejection", (event) => fail(event.reason?.message ?? event.reason));
  tell("ready");
})();
