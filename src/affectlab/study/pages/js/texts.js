// The words of the pages, in the language of the participant.

let words = {};

/** Load the words of a language. */
export async function loadTexts(language) {
  const reply = await fetch(`/static/texts/${encodeURIComponent(language)}.json`);
  if (!reply.ok) throw new Error(`no texts for ${language}`);
  words = await reply.json();
  document.documentElement.lang = language;
}

/**
 * Give a text by its name; `{places}` are filled in.
 * @param {string} name
 * @param {Object<string, string|number>} [values]
 */
export function t(name, values = {}) {
  const text = words[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}
