// The exposing cluster's metrics: hand-overs so far, and held or running requests.
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_MS = 100;
/** Engines announce changes five times a second, and the front reads them twice. */
const QUIET_MS = 1_500;

export class ClusterMetrics {
  /** @param countedAt  the server that counts hand-overs, if not the cluster */
  constructor(base, countedAt = base) {
    this.base = base;
    this.countedAt = countedAt;
  }

  /**
   * Hand-overs to decode engines that were fetched, since the start of the cluster. For a server of
   * vLLM it is the count of NIXL's transfers.
   */
  async handOvers() {
    const page = await this.page(this.countedAt);
    return page.includes('baton:kv_fetches_total')
      ? this.sum(page, 'baton:kv_fetches_total', 'outcome="done"')
      : this.sum(page, 'vllm:nixl_xfer_time_seconds_count', '');
  }

  /** Waits until the count has reached `wanted` or stays constant, and returns it. */
  async settledHandOvers(wanted = Infinity) {
    let [count, sinceMs] = [await this.handOvers(), Date.now()];
    while (count < wanted && Date.now() - sinceMs < QUIET_MS) {
      await delay(LOOK_MS);
      const now = await this.handOvers();
      if (now !== count) [count, sinceMs] = [now, Date.now()];
    }
    return count;
  }

  /**
   * Waits until no request runs, waits or (unless decode keeps it for a next turn) is held. Returns
   * a description of the rest after `deadlineMs`, or undefined.
   */
  async rest(deadlineMs, keeps = false) {
    const endMs = Date.now() + deadlineMs;
    for (;;) {
      const left = this.leftovers(await this.page(), keeps);
      if (left === '' || Date.now() > endMs) return left;
      await delay(LOOK_MS);
    }
  }

  leftovers(page, keeps) {
    const counts = {
      'hand-overs': keeps ? 0 : this.sum(page, 'baton:kv_handoffs', ''),
      running: this.sum(page, 'vllm:num_requests_running', ''),
      waiting: this.sum(page, 'vllm:num_requests_waiting', ''),
    };
    const left = Object.entries(counts).filter(([, count]) => count > 0);
    return left.map(([what, count]) => `${count} ${what}`).join(', ');
  }

  sum(page, family, label) {
    const lines = page.split('\n').filter((line) => line.startsWith(`${family}{`));
    const meant = lines.filter((line) => line.includes(label));
    return meant.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  async page(base = this.base) {
    const response = await fetch(new URL('/metrics', base));
    if (!response.ok) throw new Error(`${base}metrics answers ${response.status}`);
    return response.text();
  }
}
