// Numbers, times and names as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const whenExactly = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export const count = (n) => whole.format(n);

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** A number with fixed digits and a true minus; a dash where there is none. */
export function fixed(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
}

export const percent = (share) => `${Math.floor(100 * share + 1e-9)}\u00a0%`;

/** Seconds, minutes or hours, whichever fits. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 60) return `${seconds < 10 ? fixed(seconds, 1) : Math.round(seconds)}\u00a0s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)}\u00a0min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)}\u00a0h`;
  return `${Math.round(seconds / 86_400)}\u00a0days`;
}

export function money(amount, currency) {
  try {
    return new Intl.NumberFormat("en", { style: "currency", currency }).format(amount);
  } catch {
    return `${amount.toFixed(2)} ${currency}`; // A currency that the browser does not know.
  }
}

/** The time of today, the day otherwise. */
export function time(ms) {
  const then = new Date(ms);
  const today = then.toDateString() === new Date().toDateString();
  return today ? clock.format(then) : `${day.format(then)}, ${clock.format(then)}`;
}

export const exactTime = (ms) => whenExactly.format(new Date(ms));

export const STAGES = {
  consent: "Consent",
  demographics: "About you",
  instructions: "Instructions",
  quiz: "Quiz",
  trials: "Trials",
  waiting: "Waiting for tasks",
  complete: "Completed",
  ended: "Ended early",
};

export const STATUS = { open: "Open", paused: "Paused", closed: "Closed" };

export const ENDINGS = {
  full: "nothing was left to do",
  declined: "declined to take part",
  withdrawn: "stopped taking part",
  closed: "the study was closed meanwhile",
  erased: "was erased on request",
  ineligible: "did not fit who is wanted",
  quiz: "did not pass the quiz",
  late: "did not come back in time",
  unshown: "too many pictures did not load",
  rejected: "was rejected while under way",
};
