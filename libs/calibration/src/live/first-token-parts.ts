import { type EnginePhase, meanPhases, type RequestLog } from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import type { Counters, Part } from './counters';

/** The parts of the time to the first token, means in ms. */
export interface FirstTokenParts {
  /** Time until the prompt is computed, including its wait. */
  readonly promptMs: number;
  /** Time from the end of prefill to the first token: hand-over, wait on decode, first step. */
  readonly handOverMs: number;
}

/** The gains of the counters over several periods. Undefined when they show no hand-over. */
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
  return ifFinite({
    promptMs: meanMs('queue') + meanMs('prefill'),
    handOverMs: meanMs('transfer') + meanMs('first_step'),
  });
}

/** The parts of simulated runs. Undefined without hand-overs. */
export function simulatedParts(logs: readonly RequestLog[]): FirstTokenParts | undefined {
  const requests = logs.reduce((sum, { count }) => sum + count, 0);
  const phases = logs.map((log) => ({ ...meanPhases(log), weight: log.count / requests }));
  const meanMs = (...of: readonly EnginePhase[]): number =>
    phases.reduce(
      (sum, own) => sum + own.weight * of.reduce((us, phase) => us + usToMs(own[phase]), 0),
      0,
    );
  return ifFinite({
    promptMs: meanMs('queue', 'prefill'),
    handOverMs: meanMs('hold', 'transfer', 'decode_wait'),
  });
}

function ifFinite(parts: FirstTokenParts): FirstTokenParts | undefined {
  return Number.isFinite(parts.promptMs + parts.handOverMs) ? parts : undefined;
}
