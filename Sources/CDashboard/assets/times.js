// All times are the daemon's: its clock, its zone. Ages are counted here, by one timer for the whole page.

import { $$, el } from "./dom.js";
import { age as ageText } from "./sizes.js";

let ahead = 0;
let stoppedAt;
let zone = { timeZone: "UTC" };
let shift = 0;
let zoneName = "UTC";
const formats = new Map();

/** Sets the page's clock by what the daemon says: `now`, `zone`, `utc_offset_s`. */
export function setClock({ now, zone: name, utc_offset_s: offset }) {
  ahead = Date.parse(now) - Date.now();
  formats.clear();
  try {
    zone = { timeZone: name ?? "no zone" };
    shift = 0;
    zoneName = parts({ timeZoneName: "short" }, Date.parse(now)).timeZoneName;
  } catch {
    // A zone that this browser does not know: the offset does, until it changes.
    zone = { timeZone: "UTC" };
    shift = (offset ?? 0) * 1000;
    const minutes = Math.abs(offset ?? 0) / 60;
    const hours = `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
    zoneName = offset ? `UTC${offset < 0 ? "−" : "+"}${hours}` : "UTC";
  }
}

/** `CET`: what all clock times on the page are in. */
export const zoneText = () => zoneName;

/** The daemon's time in milliseconds. It stands still while nothing is heard of the daemon. */
export const now = () => stoppedAt ?? Date.now() + ahead;
export const nowText = () => new Date(now()).toISOString();

/** Whether ages count; not while nothing is heard. */
export function runClock(runs) {
  if (runs) stoppedAt = undefined;
  else stoppedAt ??= Date.now() + ahead;
}

function parts(options, time) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-GB", { ...zone, hourCycle: "h23", ...options }));
  return Object.fromEntries(
    formats
      .get(key)
      .formatToParts(time + shift)
      .map(({ type, value }) => [type, value]),
  );
}

const FULL = {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
};
const of = (stamp) => parts(FULL, typeof stamp === "number" ? stamp : Date.parse(stamp));

/** `14:31:02`, with the day in front beyond today: `Thu 18:44`, `12 Oct 18:44`, `12 Oct 2025`. */
export function clockText(stamp, { seconds = true } = {}) {
  const that = of(stamp);
  const today = of(now());
  const hours = `${that.hour}:${that.minute}`;
  const day = ({ day: date, month, year }) => `${date} ${month} ${year}`;
  if (day(that) === day(today)) return seconds ? `${hours}:${that.second}` : hours;
  if (Math.abs(now() - Date.parse(stamp)) < 6 * 86_400_000) return `${that.weekday} ${hours}`;
  return that.year === today.year ? `${that.day} ${that.month} ${hours}` : `${that.day} ${that.month} ${that.year}`;
}

export function fullText(stamp) {
  const that = of(stamp);
  return `${that.weekday} ${that.day} ${that.month} ${that.year}, ${that.hour}:${that.minute}:${that.second} ${zoneName}`;
}

export function dayText(stamp) {
  const { weekday, day, month, year } = of(stamp);
  return `${weekday} ${day} ${month} ${year}`;
}

/** A clock time as an element with the full stamp. */
export function clock(stamp, options) {
  if (!stamp) return false;
  return el("time", { datetime: stamp, title: fullText(stamp) }, clockText(stamp, options));
}

/** An age that counts, or the time until something if it is yet to come. */
export function age(stamp) {
  if (!stamp) return false;
  return el("time", { datetime: stamp, title: fullText(stamp), "data-since": "" }, since(stamp));
}

/** An age that the daemon gave in seconds when it said `at`. To the second, so that it does not flicker. */
export function ageOf(seconds, at = nowText()) {
  if (seconds === undefined) return false;
  return age(new Date(Math.round((Date.parse(at) - seconds * 1000) / 1000) * 1000).toISOString());
}

const since = (stamp) => ageText(Math.abs(now() - Date.parse(stamp)) / 1000);

/** How many seconds until it is `hour` o'clock there. */
export function secondsUntil(hour) {
  const { hour: h, minute, second } = of(now());
  const passed = Number(h) * 3600 + Number(minute) * 60 + Number(second);
  return (hour * 3600 - passed + 86_400) % 86_400;
}

/** Midnight of today there, as a stamp. */
export function startOfDay(daysAgo = 0) {
  return new Date(now() - (86_400 - secondsUntil(0)) * 1000 - daysAgo * 86_400_000).toISOString();
}

const ticks = new Set();
/** Calls back once a second while the page is seen and the daemon is heard. */
export const everySecond = (callback) => ticks.add(callback);

setInterval(() => {
  if (document.hidden || stoppedAt !== undefined) return;
  for (const node of $$("[data-since]")) {
    const text = since(node.dateTime);
    if (node.textContent !== text) node.textContent = text;
  }
  for (const tick of ticks) tick();
}, 1000);
