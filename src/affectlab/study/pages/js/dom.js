// Building the page. Texts are always set as text, so that nothing anyone wrote becomes markup.

/**
 * Make an element.
 * @param {string} name - Tag name.
 * @param {Object} [given] - Attributes; `on…` are listeners, `text` the text, `class` the classes.
 * @param {...(Node|string|null)} children
 */
export function el(name, given = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "checked" || key === "value" || key === "disabled") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) if (child !== null) made.append(child);
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Put new content on the stage, and let readers of the screen begin at its heading. */
export function show(...content) {
  const stage = byId("stage");
  stage.replaceChildren(...content);
  const heading = stage.querySelector("h1");
  if (heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  window.scrollTo(0, 0);
}

/** Paragraphs of a text. */
export const paragraphs = (texts) => texts.map((text) => el("p", { text }));

let counter = 0;

/** An id that no other element has. */
export const freshId = (stem) => `${stem}-${(counter += 1)}`;
