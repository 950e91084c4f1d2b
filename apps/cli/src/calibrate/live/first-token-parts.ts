import { meanPhases, type RequestLog } from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import type { Counters, Part } from './counters';

/** Where the time to the first token goes, means in ms. */
export interface FirstTokenParts {
  /** Until the prompt is computed: waiting for it included. */
  readonly promptMs: number;
  /** From there to the first token: handing over, waiting on decode, the first step. */
  readonly handOverMs: number;
}

/** What the counters have gained; undefined where they tell of no hand-over. */
export function partsBetween(before: Counters, after: Counters): FirstTokenParts | undefined {
  const meanMs = (part: Part): number => {
    const gained = after.parts[part].count - before.parts[part].count;
    return ((after.parts[part].sum - before.parts[part].sum) / gained) * 1_000;
  };
  const parts = {
    promptMs: meanMs('queue') + meanMs('prefill'),
    handOverMs: meanMs('transfer') + meanMs('first_step'),
  };
  return Number.isFinite(parts.promptMs + parts.handOverMs) ? parts : undefined;
}

/** The same of a simulated run; undefined where nothing is handed over. */
export function simulatedParts(log: RequestLog): FirstTokenParts | undefined {
  const { queue, prefill, hold, transfer, decode_wait: wait } = meanPhases(log);
  const parts = {
    promptMs: usToMs(queue + prefill),
    handOverMs: usToMs(hold + transfer + wait),
  };
  return Number.isFinite(parts.promptMs + parts.handOverMs) ? parts : undefined;
}
