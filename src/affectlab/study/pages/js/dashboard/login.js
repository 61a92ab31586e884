// The page that asks for name and password, and the one that makes the first account.

import { byId, el, show } from "../dom.js";
import { get, post, trust } from "./api.js";

const secret = location.pathname.endsWith("/setup") ? location.hash.slice(1) : "";
const first = location.pathname.endsWith("/setup");

function field(name, label, type, given = {}, note = "") {
  const id = `field-${name}`;
  const noted = note ? { "aria-describedby": `${id}-note` } : {};
  return el(
    "div",
    { class: "field" },
    el("label", { for: id, text: label }),
    el("input", { id, name, type, required: true, ...noted, ...given }),
    note ? el("p", { class: "soft small", id: `${id}-note`, text: note }) : null,
  );
}

function form() {
  const problem = el("p", { class: "error", role: "alert" });
  const button = el("button", { class: "main", text: first ? "Make the account" : "Log in" });
  const made = el(
    "form",
    { class: "card enter", method: "post" },
    el("h1", { text: first ? "Make the first account" : "Log in" }),
    first
      ? el("p", { text: "It will be an owner: it sees everything, and can add other accounts." })
      : null,
    field("name", "Name", "text", {
      autocomplete: "username",
      autocapitalize: "none",
      spellcheck: "false",
      maxlength: 60,
      pattern: "[A-Za-z0-9._@+\\-]{2,60}",
      title: "2 to 60 letters, digits and . _ @ + -",
    }),
    field(
      "password",
      "Password",
      "password",
      { autocomplete: first ? "new-password" : "current-password", maxlength: 200 },
      first ? "At least 10 characters. A sentence is easy to keep in mind." : "",
    ),
    problem,
    el("div", { class: "actions" }, button),
  );
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.textContent = "";
    button.disabled = true;
    const given = Object.fromEntries(new FormData(made));
    try {
      trust((await get("login")).csrf);
      await post(first ? "setup" : "login", first ? { ...given, secret } : given);
      location.replace("/dashboard");
    } catch (error) {
      problem.textContent = error.message;
      button.disabled = false;
      made.elements.password.focus();
    }
  });
  return made;
}

async function begin() {
  const { title, logged_in: known } = await get("login");
  if (known && !first) {
    location.replace("/dashboard");
    return;
  }
  byId("title").textContent = title;
  document.title = first ? "First account" : "Log in";
  if (first && !secret) {
    show(
      el("h1", { text: "This link is not complete" }),
      el("p", { text: "Open the whole link that the server printed when it was started." }),
    );
    return;
  }
  show(form());
  byId("field-name").focus();
}

begin().catch((error) => {
  show(el("h1", { text: "The dashboard cannot be opened" }), el("p", { text: error.message }));
});
