// What the pages of the dashboard are made of.

import { el, freshId } from "../dom.js";
import { exactTime, time } from "./words.js";

/**
 * A card whose content is made anew when what it shows changes, and only then.
 *
 * The focus stays on the same thing, and details that were open stay open: they are known by their
 * `data-key`.
 */
export function card(title, classes, render) {
  const id = freshId("card");
  const body = el("div", { class: "body" });
  const node = el(
    "section",
    { class: `card ${classes}`, "aria-labelledby": id },
    el("h2", { id, text: title }),
    body,
  );
  let last = null;
  return {
    node,
    update(...data) {
      const now = JSON.stringify(data);
      if (now === last) return;
      last = now;
      const focused = body.contains(document.activeElement)
        ? document.activeElement.dataset.key
        : undefined;
      const opened = [...body.querySelectorAll("details[open]")].map((one) => one.dataset.key);
      body.replaceChildren(...[render(...data)].flat().filter((one) => one !== null));
      for (const one of body.querySelectorAll("details")) {
        if (opened.includes(one.dataset.key)) one.open = true;
      }
      if (focused !== undefined) {
        const again = [...body.querySelectorAll("[data-key]")];
        again.find((one) => one.dataset.key === focused)?.focus({ preventScroll: true });
      }
    },
  };
}

/** Pairs of a name and a value. */
export function facts(pairs) {
  return el(
    "dl",
    { class: "facts" },
    ...pairs
      .filter(([, value]) => value !== null)
      .map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", {}, value))),
  );
}

/** A table; cells are texts or elements. Columns: [heading, class]. */
export function table(caption, columns, rows, classes = "") {
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      { class: classes },
      el("caption", { class: "hidden", text: caption }),
      el(
        "thead",
        {},
        el("tr", {}, ...columns.map(([text, kind]) => el("th", { scope: "col", class: kind, text }))),
      ),
      el(
        "tbody",
        {},
        ...rows.map((cells) =>
          el(
            "tr",
            {},
            ...cells.map((cell, place) =>
              place === 0
                ? el("th", { scope: "row", class: columns[place][1] }, cell)
                : el("td", { class: columns[place][1] }, cell),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Something that can be opened. */
export function more(key, summary, ...content) {
  return el("details", { "data-key": key }, el("summary", { text: summary }), ...content);
}

export const raterLink = (rater, key = rater) =>
  el("a", { href: `#/people/${rater}`, class: "rater", "data-key": key, text: rater });

export const pill = (text, kind = "") => el("span", { class: `pill ${kind}`, text });

export const moment = (ms) =>
  el("time", { datetime: new Date(ms).toISOString(), title: exactTime(ms), text: time(ms) });

/**
 * Ask before something is done; the dialog says what was refused, and stays open then.
 *
 * @param {Object} what - `title`, `text`, `action` (text of the button), `danger`, `content`
 *   (elements of the form) and `run`, which gets the form and does it.
 */
export function ask({ title, text, action, danger = false, content = [], run }) {
  const id = freshId("dialog");
  const problem = el("p", { class: "error", role: "alert" });
  const yes = el("button", { class: danger ? "danger" : "main", text: action });
  const no = el("button", { type: "button", text: "Cancel" });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id, text: title }),
    ...[text].flat().filter(Boolean).map((one) => el("p", { text: one })),
    ...content,
    problem,
    el("div", { class: "actions" }, yes, no),
  );
  const dialog = el("dialog", { "aria-labelledby": id }, form);
  const before = document.activeElement;
  no.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    before?.focus?.();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    yes.disabled = true;
    problem.textContent = "";
    try {
      await run(form);
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
      yes.disabled = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A field of a form. */
export function field(name, label, input, note = "") {
  const id = freshId(name);
  input.id = id;
  input.name = name;
  if (note) input.setAttribute("aria-describedby", `${id}-note`);
  return el(
    "div",
    { class: "field" },
    el("label", { for: id, text: label }),
    input,
    note ? el("p", { class: "soft small", id: `${id}-note`, text: note }) : null,
  );
}

/** Buttons to the pages of a long list. */
export function pager(total, offset, limit, go) {
  if (total <= limit) return null;
  const last = Math.min(offset + limit, total);
  return el(
    "div",
    { class: "pager" },
    el("button", {
      text: "Earlier",
      "data-key": "earlier",
      disabled: offset === 0,
      onclick: () => go(Math.max(0, offset - limit)),
    }),
    el("span", { text: `${offset + 1} to ${last} of ${total}` }),
    el("button", {
      text: "Later",
      "data-key": "later",
      disabled: last >= total,
      onclick: () => go(offset + limit),
    }),
  );
}
