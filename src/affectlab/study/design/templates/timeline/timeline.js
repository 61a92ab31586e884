// A timeline in plain JavaScript, which records what jsPsych would. With jsPsych itself, this file is:
//
//   const jsPsych = initJsPsych({ on_finish: () => affectlab.finish(jsPsych) });
//   jsPsych.run([
//     { type: jsPsychHtmlButtonResponse, stimulus: "…", choices: ["1", "2", "3", "4", "5"] },
//   ]);
//
// affectlab.stimulus has images (addresses), texts and parameters (columns of your table);
// affectlab.language is the language of the page. The frame reaches nothing else.

const steps = [
  { name: "valence", question: "How pleasant is it?", ends: ["very unpleasant", "very pleasant"] },
  { name: "arousal", question: "How exciting is it?", ends: ["very calm", "very exciting"] },
];
const recorded = [];
const jsPsych = { data: { get: () => ({ json: () => JSON.stringify(recorded) }) } };
const began = performance.now();

function add(parent, name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}

function show(place) {
  if (place === steps.length) {
    document.body.replaceChildren();
    affectlab.finish(jsPsych);
    return;
  }
  const { name, question, ends } = steps[place];
  const shown = performance.now();
  const main = document.createElement("main");
  add(main, "h1", affectlab.stimulus.texts[0]);
  add(main, "p", question);
  const row = add(main, "div");
  const answer = (response) => {
    document.removeEventListener("keydown", pressed);
    const now = performance.now();
    recorded.push({
      trial_type: "rating",
      trial_index: place,
      time_elapsed: Math.round(now - began),
      rt: Math.round(now - shown),
      scale: name,
      response,
      kind: affectlab.stimulus.parameters.kind,
    });
    show(place + 1);
  };
  const pressed = (event) => {
    if (/^[1-5]$/.test(event.key)) answer(Number(event.key));
  };
  for (let level = 1; level <= 5; level += 1) {
    const button = add(row, "button", String(level));
    button.type = "button";
    button.addEventListener("click", () => answer(level));
  }
  row.firstChild.ariaLabel = `1, ${ends[0]}`;
  row.lastChild.ariaLabel = `5, ${ends[1]}`;
  const words = add(main, "p");
  words.className = "ends";
  ends.forEach((end) => add(words, "span", end));
  document.addEventListener("keydown", pressed);
  document.body.replaceChildren(main);
}

show(0);
