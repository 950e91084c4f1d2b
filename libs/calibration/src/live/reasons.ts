import { mean, median } from '@baton/kernel';
import type { Calibration } from '../fits/calibrate';
import type { Contention, Followed } from './disturbance';
import type { EngineTimes, Measurements } from './decompose';
import type { Beside } from './figures';
import type { HeldOut } from './held-out';

/** Measured reasons why a simulated figure may differ from a real one. Shares: 0.1 is a tenth. */
export interface Reasons {
  /** Share of the mean time to first token. The simulated one includes it. */
  readonly overheadShare: number;
  readonly contention: Contention | undefined;
  readonly followed: Followed | undefined;
  readonly wavering: Wavering;
  /** Mean gap of an unchanged batch / fitted gap − 1. */
  readonly pauses: number;
  /**
   * Median gap of an unchanged batch / fitted gap − 1. Negative where most gaps are short and some
   * are long.
   */
  readonly typical: number;
  /** Mean |error| of the fitted points by phase. */
  readonly fit: readonly { readonly phase: string; readonly error: number }[];
  readonly stepsOutsideRange: number;
  readonly steps: number;
}

/** Distance of rounds of the same point from their median, as a share: the mean over all rounds. */
export interface Wavering {
  readonly prompt: number;
  readonly decode: number;
}

/** A figure with the rest of its error after the measured reasons. */
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
}

export function reasonsOf(facts: ReasonFacts): Reasons {
  const { measured, times, calibration, heldOut, contention, followed } = facts;
  const { real, twin } = heldOut;
  return {
    overheadShare: times.overheadMs / (real.ttftMs.mean ?? Infinity),
    contention,
    followed,
    wavering: { prompt: meanSpread(measured.prompts), decode: meanSpread(measured.decode) },
    pauses: Math.max(0, median(measured.decode.map(({ pauses }) => pauses)) - 1),
    typical: median(measured.decode.map(({ typical }) => typical)) - 1,
    fit: calibration.fitted.map(({ phase, meanErrorPercent }) => {
      return { phase, error: meanErrorPercent / 100 };
    }),
    stepsOutsideRange: twin.stepsOutsideRange,
    steps: twin.steps,
  };
}

function meanSpread(points: readonly { readonly roundsMs: readonly number[] }[]): number {
  return mean(
    points.flatMap(({ roundsMs }) => {
      const middle = median(roundsMs);
      return roundsMs.map((ms) => Math.abs(ms / middle - 1));
    }),
  );
}

/**
 * The rest of each error: simulated · (1 + slower) / real − 1. Rates are not corrected.
 *
 * - Decode is slower by the hold-ups of the prompts of a second, its mean gap also by pauses. Its
 *   median gap is shorter by the share of a typical gap.
 * - A prompt is slower by the effect of a busy decode engine, times the share of time in which that
 *   engine is busy with others.
 * - On average it is also slower by the cost of a following prompt, times the probability of one
 *   during its computation.
 */
export function explained(heldOut: HeldOut, reasons: Reasons): readonly Explained[] {
  const { contention, followed, pauses, typical } = reasons;
  const { twin, simulated } = heldOut;
  const others = othersIn(heldOut.plan);
  const decode = others * heldUp(heldOut, contention);
  const always = others * (contention?.prompt ?? 0) * twin.decodeBusy;
  const following = byFollowers(heldOut, followed, others);
  const first = (simulated.ttftMs.mean ?? 0) / (simulated.e2elMs.mean ?? Infinity);
  return heldOut.rows.map((row) => {
    const isMean = row.name.endsWith('mean');
    const gap = decode + (isMean ? pauses : 0) + (row.name === 'ITL p50' ? typical : 0);
    const prompt = always + (isMean ? following : 0);
    const slower = slowerBy(row, { gap, prompt, endToEnd: first * prompt + (1 - first) * gap });
    return { ...row, remainder: (row.simulated * (1 + slower)) / row.real - 1 };
  });
}

/**
 * Share of the load that comes from other clients: in a closed loop a client never delays itself.
 */
function othersIn({ arrivals }: HeldOut['plan']): number {
  return 'clients' in arrivals ? 1 - 1 / arrivals.clients : 1;
}

/** A share of time. A shorter prompt holds up in proportion. */
function heldUp({ plan, real }: HeldOut, contention: Contention | undefined): number {
  if (contention === undefined) return 0;
  const { holdUpMs, promptTokens } = contention;
  const part = mean(plan.promptTokens) / promptTokens;
  return (holdUpMs * part * real.requestsPerSecond) / 1_000;
}

/** Share of the mean time to first token. Shorter prompts cost in proportion. */
function byFollowers(
  { plan, real, simulated }: HeldOut,
  followed: Followed | undefined,
  others: number,
): number {
  const ttftMs = simulated.ttftMs.mean ?? 0;
  if (followed === undefined || ttftMs === 0) return 0;
  const chance = 1 - Math.exp((-others * real.requestsPerSecond * ttftMs) / 1_000);
  return (chance * followed.laterMs * (mean(plan.promptTokens) / followed.promptTokens)) / ttftMs;
}

function slowerBy(
  { name, unit }: Beside,
  by: Readonly<Record<'gap' | 'prompt' | 'endToEnd', number>>,
): number {
  if (unit !== 'ms') return 0;
  if (name.startsWith('TTFT')) return by.prompt;
  return name.startsWith('E2EL') ? by.endToEnd : by.gap;
}
