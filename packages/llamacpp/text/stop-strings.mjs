/** Ends a text before the first stop string; a possible beginning of one is held back. */
export class StopStrings {
  constructor(stops) {
    this.stops = stops;
    this.waiting = '';
  }

  /** The text that is safe to pass on, and the stop string that was found. */
  push(text) {
    if (this.stops.length === 0) return { text, stop: undefined };
    const all = this.waiting + text;
    const met = this.stops
      .map((stop) => ({ stop, at: all.indexOf(stop) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    if (met !== undefined) {
      this.waiting = '';
      return { text: all.slice(0, met.at), stop: met.stop };
    }
    const keep = Math.max(...this.stops.map((stop) => overlap(all, stop)));
    this.waiting = all.slice(all.length - keep);
    return { text: all.slice(0, all.length - keep), stop: undefined };
  }

  /** The rest, when no more text comes. */
  flush() {
    const { waiting } = this;
    this.waiting = '';
    return waiting;
  }
}

/** Length of the longest end of a text with which `stop` begins. */
function overlap(text, stop) {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length -= 1) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
