// Small bars on one time scale: an hour in minutes, a day in hours.

import { svg } from "./dom.js";
import { count } from "./sizes.js";

const WIDTH = 120;
const HEIGHT = 27;

function bars(values, most, step, from = () => HEIGHT) {
  const height = (value) => (value > 0 ? Math.max(2, (value / most) * (HEIGHT - 2)) : 0);
  return values
    .map((value, index) => {
      if (!(value > 0)) return "";
      const x = Math.round((index + 0.5) * step * 100) / 100;
      return `M${x} ${from(index)}v-${height(value).toFixed(1)}`;
    })
    .join("");
}

function spark(label, classes, content) {
  return svg(
    `svg.spark${classes}`,
    { viewBox: "0 0 120 28", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("path.base", { d: "M0 27.5H120" }),
    content,
  );
}

/** Jobs a minute, failed ones red at the foot. Nothing where the daemon sends no minutes. */
export function minutes(name, { jobs, failed = [] }) {
  const most = Math.max(1, ...jobs);
  const step = WIDTH / jobs.length;
  const bad = failed.filter((value) => value > 0).length;
  const foot = (index) => (failed[index] > 0 ? HEIGHT - Math.max(2, (failed[index] / most) * (HEIGHT - 2)) : HEIGHT);
  const rest = jobs.map((value, index) => value - (failed[index] ?? 0));
  return spark(`${name}: ${told(jobs, "jobs")}${bad ? `, ${count(bad)} minutes with failures` : ""}`, "", [
    svg("path.ok", { d: bars(rest, most, step, foot) }),
    svg("path.ko", { d: bars(failed, most, step) }),
  ]);
}

/** Any figure a minute. */
export function amount(values, tell) {
  const most = Math.max(1, ...values);
  return spark(`up to ${tell(most)} a minute`, "", svg("path.ok", { d: bars(values, most, WIDTH / values.length) }));
}

/** Failures an hour over a day. */
export function day(hours) {
  const most = Math.max(1, ...hours);
  const busy = hours.filter((value) => value > 0).length;
  const all = hours.reduce((sum, value) => sum + value, 0);
  return spark(
    `${count(all)} in the last 24 hours, in ${busy === 1 ? "one of them" : `${count(busy)} of them`}`,
    ".day",
    svg("path.ko", { d: bars(hours, most, WIDTH / hours.length) }),
  );
}

function told(values, what) {
  const busy = values.filter((value) => value > 0);
  if (!busy.length) return "nothing in the last hour";
  const idle = values.length - 1 - values.findLastIndex((value) => value > 0);
  const most = Math.max(...busy);
  return `up to ${count(most)} ${most === 1 ? "job" : what} a minute over the last hour${idle > 4 ? `, none for ${count(idle)} minutes` : ""}`;
}
