// Numbers as the program prints them: `8.9 KiB`, `3.1 MB/s`, `4 min 2 s`.

const UNITS = [
  ["TiB", 2 ** 40],
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
];
const RATES = [
  ["GB/s", 1e9],
  ["MB/s", 1e6],
  ["kB/s", 1e3],
];

export const count = (number) => (number ?? 0).toLocaleString("en");

/** `1 job`, `1,204 jobs`. */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export function bytes(number) {
  if (number === undefined) return "";
  const [name, unit] = UNITS.find(([, size]) => number >= size) ?? ["B", 1];
  if (unit === 1) return `${number} B`;
  const tenths = Math.round((number * 10) / unit);
  return tenths >= 1000 ? `${count(Math.floor(tenths / 10))} ${name}` : `${(tenths / 10).toFixed(1)} ${name}`;
}

export function rate(perSecond) {
  const [name, unit] = RATES.find(([, size]) => perSecond >= size) ?? ["B/s", 1];
  return unit === 1 ? `${Math.round(perSecond)} B/s` : `${(perSecond / unit).toFixed(1)} ${name}`;
}

/** How long something took; what is short has a digit more. */
export function duration(seconds) {
  if (seconds === undefined || Number.isNaN(seconds)) return "";
  if (seconds < 0.0995) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1).replace(".0", "")} s`;
  return age(seconds);
}

/** How long something lasts, in the two units that matter, so that it changes as seldom as it can. */
export function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(whole / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const two = (large, largeUnit, small, smallUnit) => `${large} ${largeUnit}${small ? ` ${small} ${smallUnit}` : ""}`;
  if (whole < 60) return `${whole} s`;
  if (minutes < 10) return two(minutes, "min", whole % 60, "s");
  if (hours < 1) return `${minutes} min`;
  if (days < 1) return two(hours, "h", minutes % 60, "min");
  return days < 3 ? two(days, "d", hours % 24, "h") : `${count(days)} d`;
}

export const percent = (part, whole) => (whole > 0 ? Math.min(100, Math.floor((part / whole) * 100)) : 0);
