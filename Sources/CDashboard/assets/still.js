// A list never moves by itself: rows change in place, and what is new waits for a click. While something is selected or
// a question is open nothing changes at all.

const reasons = new Set();
const listeners = new Set();

/** Whether the page stands still. */
export const held = () => reasons.size > 0;

/** Holds the page for a reason, or lets it go on. */
export function hold(reason, on) {
  if (reasons.has(reason) === on) return;
  if (on) reasons.add(reason);
  else reasons.delete(reason);
  for (const listener of listeners) listener();
}

export const onHold = (listener) => listeners.add(listener);

/**
 * What a list shows after it was read again: the rows that stood there in their places, with what is known of them now
 * (`gone` where nothing is), and beside it how many are new.
 */
export function keepPlaces(shown, fresh, key) {
  const now = new Map(fresh.map((item) => [key(item), item]));
  const rows = shown.map((item) => now.get(key(item)) ?? { ...item, gone: true });
  const known = new Set(shown.map(key));
  return { rows, coming: fresh.filter((item) => !known.has(key(item))).length };
}
