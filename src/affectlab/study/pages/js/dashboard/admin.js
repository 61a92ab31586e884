// Who did what, who may do what, and one's own password.

import { el } from "../dom.js";
import { get, post } from "./api.js";
import { ask, field, moment, pager, table } from "./parts.js";
import { plural } from "./words.js";

const ROLES = {
  viewer: "Viewer: sees",
  researcher: "Researcher: also approves, rejects and pauses",
  owner: "Owner: also closes the study and manages accounts",
};

// What was said about somebody who was erased is gone from the log.
const who = (told) => (told.by === "command line" ? "The command line" : (told.by ?? "Somebody"));

const DONE = {
  study_begun: () => "The study was begun",
  study_changed: () => "The study file was changed",
  study_status: (told) => `${who(told)}: the study is now ${told.status}`,
  invited: (told) => `Made: ${plural(told.n, "invitation")}`,
  pilot_begun: () => "The pilot was begun",
  golden_adopted: () => "Known answers were taken over from the pilot",
  accepted: (told, one) => `${who(told)} approved session ${one.session}`,
  rejected: (told, one) => `${who(told)} rejected session ${one.session}: ${told.reason ?? "–"}`,
  pay_decided: (told, one) =>
    `Session ${one.session}: ${told.pay === "yes" ? "to be paid" : "not to be paid"}`,
  payment: (told, one) =>
    `Session ${one.session}: ${[told.action, told.state].filter(Boolean).join(" ")}`,
  erased: (told) => `${who(told)} erased a person`,
  refused: (told) =>
    `A request was refused${told.path ? ` at ${told.path}` : ""}: ${told.code ?? told.reason ?? "–"}` +
    (told.unlogged ? `, and ${told.unlogged} more` : ""),
  setup_made: () => "A link for the first account was made",
  account_added: (told) => `${who(told)} added ${told.account}, ${told.role}`,
  account_removed: (told) => `${who(told)} removed ${told.account}, ${told.role}`,
  account_role: (told) => `${who(told)} made ${told.account} ${told.role}, before ${told.before}`,
  account_password: (told) => `${who(told)} changed the password of ${told.account}`,
  dashboard_login: (told) => `${who(told)} logged in`,
  dashboard_login_failed: (told) =>
    told.account ? `Wrong password for ${told.account}` : "Log-in with a name that is not known",
  dashboard_logout: (told) => `${who(told)} logged out`,
};

const LIMIT = 50;

export function logPage(said) {
  const body = el("div", { class: "card" });
  let offset = 0;
  async function load() {
    const { total, rows } = await get(`audit?offset=${offset}&limit=${LIMIT}`);
    const lines = rows.map((one) => [
      moment(one.at),
      (DONE[one.kind] ?? (() => one.kind))(one.told, one),
    ]);
    const go = (to) => {
      offset = to;
      load().catch((error) => said(error.message));
    };
    body.replaceChildren(
      ...[
        table("Who did what, the latest first", [["When", ""], ["What", "answer"]], lines, "log"),
        pager(total, offset, LIMIT, go),
      ].filter(Boolean),
    );
  }
  load().catch((error) => said(error.message));
  return {
    node: el(
      "div",
      {},
      el("h1", { text: "Log" }),
      el("p", { class: "soft", text: "Nobody can change what stands here." }),
      body,
    ),
    update: () => {
      if (offset === 0 && !body.contains(document.activeElement)) {
        load().catch((error) => said(error.message));
      }
    },
  };
}

const roleInput = (chosen) =>
  el(
    "select",
    {},
    ...Object.entries(ROLES).map(([value, text]) => el("option", { value, text, selected: value === chosen })),
  );

const secretInput = (kind = "new-password") =>
  el("input", { type: "password", autocomplete: kind, required: true, maxlength: 200 });

const SECRET = "At least 10 characters. A sentence is easy to keep in mind.";

export function accountsPage(me, said) {
  const body = el("div", { class: "card" });
  const failed = (error) => said(error.message);

  async function load() {
    const { rows } = await get("accounts");
    const lines = rows.map((one) => [one.name, one.role, moment(one.created_at), choices(one)]);
    const columns = [["Name", "name"], ["Role", ""], ["Since", "spare"], ["", "choices"]];
    body.replaceChildren(table("Accounts", columns, lines, "accounts"));
  }

  const done = async (sentence) => {
    said(sentence);
    await load();
  };

  function choices(one) {
    if (one.name === me.name) return el("span", { class: "soft", text: "you" });
    const at = `accounts/${encodeURIComponent(one.name)}`;
    const button = (text, what) =>
      el("button", { class: "quiet", text, "aria-label": `${text} ${one.name}`, onclick: () => ask(what) });
    const role = roleInput(one.role);
    const secret = secretInput();
    return el(
      "span",
      { class: "row-actions" },
      button("Role", {
        title: `Role of ${one.name}`,
        action: "Save",
        content: [field("role", "Role", role)],
        run: async () => {
          await post(`${at}/role`, { role: role.value });
          await done(`${one.name} is now ${role.value}.`);
        },
      }),
      button("Password", {
        title: `New password for ${one.name}`,
        text: "The account is logged out everywhere.",
        action: "Save",
        content: [field("password", "New password", secret, SECRET)],
        run: async () => {
          await post(`${at}/password`, { password: secret.value });
          await done(`The password of ${one.name} is changed.`);
        },
      }),
      button("Remove", {
        title: `Remove ${one.name}?`,
        text: "The account is logged out everywhere. What it did stays in the log.",
        action: "Remove",
        danger: true,
        run: async () => {
          await post(`${at}/remove`);
          await done(`${one.name} is removed.`);
        },
      }),
    );
  }

  function add() {
    const name = el("input", {
      required: true,
      maxlength: 60,
      autocapitalize: "none",
      autocomplete: "off",
      spellcheck: "false",
    });
    const role = roleInput("viewer");
    const secret = secretInput();
    ask({
      title: "Add an account",
      action: "Add",
      content: [
        field("name", "Name", name, "Lower case letters, digits and . _ @ + -"),
        field("role", "Role", role),
        field("password", "Password", secret, SECRET),
      ],
      run: async () => {
        const made = { name: name.value, role: role.value, password: secret.value };
        await post("accounts", made);
        await done(`${made.name} is added.`);
      },
    });
  }

  load().catch(failed);
  return {
    node: el(
      "div",
      {},
      el("h1", { text: "Accounts" }),
      body,
      el("div", { class: "actions" }, el("button", { class: "main", text: "Add an account", onclick: add })),
    ),
    update: () => {},
  };
}

/** Change one's own password. */
export function changePassword(said) {
  const before = secretInput("current-password");
  const next = secretInput();
  ask({
    title: "Change your password",
    text: "You stay logged in here, and are logged out elsewhere.",
    action: "Change it",
    content: [field("old", "Present password", before), field("new", "New password", next, SECRET)],
    run: async () => {
      await post("password", { old: before.value, new: next.value });
      said("Your password is changed.");
    },
  });
}
