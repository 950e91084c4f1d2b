/** Sequences of a context, each lent to one request at a time, first come, first served. */
export class Slots {
  constructor(sequences) {
    this.all = [...sequences];
    this.free = [...sequences];
    this.queue = [];
  }

  get waiting() {
    return this.queue.length;
  }

  get used() {
    return this.all.length - this.free.length;
  }

  /** Part of the context's memory that holds KV. */
  usage() {
    const held = this.all.reduce((sum, { nextTokenIndex }) => sum + nextTokenIndex, 0);
    return held / (this.all.length * this.all[0].contextSize);
  }

  /** @throws the signal's reason when it aborts before a slot is free */
  take(signal) {
    signal.throwIfAborted();
    const sequence = this.free.pop();
    if (sequence !== undefined) return Promise.resolve(sequence);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.queue = this.queue.filter((each) => each !== entry);
        reject(signal.reason);
      };
      const entry = (freed) => {
        signal.removeEventListener('abort', leave);
        resolve(freed);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.queue.push(entry);
    });
  }

  async giveBack(sequence) {
    await sequence.clearHistory();
    const next = this.queue.shift();
    if (next === undefined) this.free.push(sequence);
    else next(sequence);
  }
}
