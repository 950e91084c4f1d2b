import { type EnginePhase, meanPhases, type RequestLog } from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import type { Counters, Part } from './counters';

/** Where the time to the first token goes, means in ms. */
export interface FirstTokenParts {
  /** Until the prompt is computed: waiting for it included. */
  readonly promptMs: number;
  /** From there to the first token: handing over, waiting on decode, the first step. */
  readonly handOverMs: number;
}

/** What the counters have gained over some times; undefined where they tell of no hand-over. */
export function partsBetween(
  times: readonly (readonly [before: Counters, after: Counters])[],
): FirstTokenParts | undefined {
  const meanMs = (part: Part): number => {
    const gained = (key: 'sum' | 'count'): number =>
      times.reduce(
        (sum, [before, after]) => sum + after.parts[part][key] - before.parts[part][key],
        0,
      );
    return (gained('sum') / gained('count')) * 1_000;
  };
  return told({
    promptMs: meanMs('queue') + meanMs('prefill'),
    handOverMs: meanMs('transfer') + meanMs('first_step'),
  });
}

/** The same of simulated runs; undefined where nothing is handed over. */
export function simulatedParts(logs: readonly RequestLog[]): FirstTokenParts | undefined {
  const requests = logs.reduce((sum, { count }) => sum + count, 0);
  const phases = logs.map((log) => ({ ...meanPhases(log), weight: log.count / requests }));
  const meanMs = (...of: readonly EnginePhase[]): number =>
    phases.reduce(
      (sum, own) => sum + own.weight * of.reduce((us, phase) => us + usToMs(own[phase]), 0),
      0,
    );
  return told({
    promptMs: meanMs('queue', 'prefill'),
    handOverMs: meanMs('hold', 'transfer', 'decode_wait'),
  });
}

function told(parts: FirstTokenParts): FirstTokenParts | undefined {
  return Number.isFinite(parts.promptMs + parts.handOverMs) ? parts : undefined;
}
