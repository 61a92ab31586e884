// Talking to the server of the dashboard.

let csrf = "";

/** What the server refused, with the sentence that says why. */
export class Refused extends Error {
  constructor(status, code, sentence) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

/** Keep the token that this page sends with everything that changes something. */
export const trust = (token) => {
  csrf = token;
};

export const get = (what) => request("GET", what);
export const post = (what, message = {}) => request("POST", what, message);

export const toLogin = () => location.replace("/dashboard/login");

async function request(method, what, message) {
  let reply;
  try {
    reply = await fetch(`/dashboard/api/${what}`, {
      method,
      headers: message === undefined ? {} : { "Content-Type": "application/json", "X-CSRF": csrf },
      body: message === undefined ? undefined : JSON.stringify(message),
    });
  } catch {
    throw new Refused(0, "network", "The server cannot be reached. Please try again.");
  }
  if (reply.status === 204) return null;
  let content = {};
  try {
    content = await reply.json();
  } catch {
    throw new Refused(reply.status, "broken", "The server sent something that is no answer.");
  }
  if (reply.ok) return content;
  throw new Refused(reply.status, content.error?.code ?? "", content.error?.sentence ?? "Refused.");
}
