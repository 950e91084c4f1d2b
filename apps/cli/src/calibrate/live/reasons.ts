import type { Calibration } from '@baton/hardware';
import type { Contention, Drift, Followed } from './disturbance';
import type { EngineTimes, Measurements } from './decompose';
import type { Beside } from './figures';
import type { HeldOut } from './held-out';
import { mean, median } from './statistics';

/** What was measured of the reasons why a simulated figure may differ from a real one. Shares: 0.1 is a tenth. */
export interface Reasons {
  /** Of the mean time to first token; it is part of the simulated one. */
  readonly overheadShare: number;
  readonly contention: Contention | undefined;
  readonly followed: Followed | undefined;
  readonly drift: Drift | undefined;
  /** Mean gap of an unchanged batch / the gap that was fitted − 1. */
  readonly pauses: number;
  /** Mean |error| of the fitted points by phase. */
  readonly fit: readonly { readonly phase: string; readonly error: number }[];
  readonly stepsOutsideRange: number;
  readonly steps: number;
}

/** A figure with what is left of its error once the measured reasons are counted in. */
export interface Explained extends Beside {
  readonly remainder: number;
}

export interface ReasonFacts {
  readonly measured: Measurements;
  readonly times: EngineTimes;
  readonly calibration: Calibration;
  readonly heldOut: HeldOut;
  readonly contention: Contention | undefined;
  readonly followed: Followed | undefined;
  readonly drift: Drift | undefined;
}

export function reasonsOf(facts: ReasonFacts): Reasons {
  const { measured, times, calibration, heldOut, contention, followed, drift } = facts;
  const { real, twin } = heldOut;
  return {
    overheadShare: times.overheadMs / (real.ttftMs.mean ?? Infinity),
    ...{ contention, followed, drift },
    pauses: Math.max(0, median(measured.decode.map(({ pauses }) => pauses)) - 1),
    fit: calibration.fitted.map(({ phase, meanErrorPercent }) => {
      return { phase, error: meanErrorPercent / 100 };
    }),
    ...{ stepsOutsideRange: twin.stepsOutsideRange, steps: twin.steps },
  };
}

/**
 * What is left of each error: simulated · (1 + slower) / real − 1. Decode is slower by what the prompts of a second hold it up, by half of the drift over
 * the load, and on average by pauses; a prompt by what a busy decode engine takes from it, times the share of time in which it is busy, by half of the
 * drift, and on average by what the prompt behind it costs, times the chance that one comes while it is computed. Of rates nothing is taken off.
 */
export function explained(heldOut: HeldOut, reasons: Reasons): readonly Explained[] {
  const { contention, followed, drift, pauses } = reasons;
  const { twin, simulated } = heldOut;
  const decode = heldUp(heldOut, contention) + (drift?.decode ?? 0) / 2;
  const always = (contention?.prompt ?? 0) * twin.decodeBusy + (drift?.prompt ?? 0) / 2;
  const behind = byFollowers(heldOut, followed);
  const first = (simulated.ttftMs.mean ?? 0) / (simulated.e2eMs.mean ?? Infinity);
  return heldOut.rows.map((row) => {
    const isMean = row.name.endsWith('mean');
    const gap = decode + (isMean ? pauses : 0);
    const prompt = always + (isMean ? behind : 0);
    const slower = slowerBy(row, { gap, prompt, endToEnd: first * prompt + (1 - first) * gap });
    return { ...row, remainder: (row.simulated * (1 + slower)) / row.real - 1 };
  });
}

/** Share of time; a shorter prompt holds up in proportion. */
function heldUp({ plan, real }: HeldOut, contention: Contention | undefined): number {
  if (contention === undefined) return 0;
  const { holdUpMs, promptTokens } = contention;
  const part = mean(plan.promptTokens) / promptTokens;
  return (holdUpMs * part * real.requestsPerSecond) / 1_000;
}

/** Share of the mean time to first token; shorter prompts cost in proportion. */
function byFollowers({ plan, real, simulated }: HeldOut, followed: Followed | undefined): number {
  const ttftMs = simulated.ttftMs.mean ?? 0;
  if (followed === undefined || ttftMs === 0) return 0;
  const chance = 1 - Math.exp((-real.requestsPerSecond * ttftMs) / 1_000);
  return (chance * followed.laterMs * (mean(plan.promptTokens) / followed.promptTokens)) / ttftMs;
}

function slowerBy(
  { name, unit }: Beside,
  by: Readonly<Record<'gap' | 'prompt' | 'endToEnd', number>>,
): number {
  if (unit !== 'ms') return 0;
  if (name.startsWith('TTFT')) return by.prompt;
  return name.startsWith('E2E') ? by.endToEnd : by.gap;
}
