import { Failure } from '../../failure';
import { type EngineTimes, type Measurements, wholePrompts } from './decompose';
import { type Beside, type Figures, figuresOf, sideBySide } from './figures';
import { type FirstTokenParts, partsBetween, simulatedParts } from './first-token-parts';
import type { LoadFlags } from './live-flags';
import { asSent, loadOf, type LoadPlan } from './load-plan';
import { mean, straight } from './statistics';
import type { LiveTarget, TargetRun } from './target';
import type { EngineCounts } from './topology-of';
import { type TwinOptions, type TwinRun, twinRun } from './twin';

/** A load that nothing was fitted to, as it was and as it is simulated. */
export interface HeldOut {
  readonly plan: LoadPlan;
  readonly real: Figures;
  readonly simulated: Figures;
  readonly rows: readonly Beside[];
  readonly twin: Omit<TwinRun, 'run'>;
  /** Of a cluster that hands over and tells; real and simulated. */
  readonly parts: readonly [FirstTokenParts, FirstTokenParts] | undefined;
  readonly failures: TargetRun['failures'];
  readonly void: string | null;
}

/** Of the time of the busier stage, by the measured times of single requests. */
const BUSY = 0.4;

export interface LoadFacts {
  readonly measured: Measurements;
  readonly times: EngineTimes;
  readonly engines: EngineCounts;
  readonly seed: number;
}

/** Other lengths than the grid's, at a rate that leaves the engines some air unless the user wants another. */
export function planLoad(flags: LoadFlags, facts: LoadFacts): LoadPlan {
  const lengths = wholePrompts(facts.measured).map(({ tokens }) => tokens);
  const promptTokens = flags.promptTokens ?? [Math.min(...lengths), Math.max(...lengths) - 1];
  const { requests, outputTokens, clients, ratePerSecond } = flags;
  const shape = { requests, promptTokens, outputTokens, seed: facts.seed, avoided: lengths };
  if (clients !== undefined) return { ...shape, arrivals: { clients } };
  return { ...shape, arrivals: { ratePerSecond: ratePerSecond ?? gentleRate(shape, facts) } };
}

function gentleRate(
  { promptTokens, outputTokens }: Pick<LoadPlan, 'promptTokens' | 'outputTokens'>,
  { measured, times, engines }: LoadFacts,
): number {
  const { decode } = measured;
  const prefillMs = straight(wholePrompts(measured).map(({ tokens, ttftMs }) => [tokens, ttftMs]))(
    mean(promptTokens),
  );
  const widest = Math.max(...decode.map(({ sequences }) => sequences));
  const stepMs = mean(decode.filter((p) => p.sequences === widest).map((p) => p.stepMs));
  const answerMs = (mean(outputTokens) * stepMs) / widest;
  const ownMs = Math.max(0.01, prefillMs - times.overheadMs);
  const perSecond =
    engines.prefill > 0
      ? Math.min(engines.prefill / ownMs, engines.decode / answerMs)
      : engines.aggregated / (ownMs + answerMs);
  return Number((BUSY * perSecond * 1_000).toPrecision(3));
}

/** Sends the load, and lets the same requests come at the same instants on the virtual clock. */
export async function runHeldOut(
  target: LiveTarget,
  plan: LoadPlan,
  { overheadMs, ...twin }: TwinOptions & { readonly overheadMs: number },
): Promise<HeldOut> {
  const workload = loadOf(plan);
  const before = await target.counters();
  const sent = await target.run(workload);
  const after = before && (await target.counters());
  const lengths = sent.answers.map(
    (answer) => answer && { prompt: answer.inputTokens, output: answer.outputTokens },
  );
  if (lengths.every((length) => length === undefined)) {
    throw new Failure(`No request of the load was answered: ${sent.failures[0]?.example ?? ''}`);
  }
  const replayed = asSent(workload, { arrivalUs: sent.log.arrivalUs, lengths }, overheadMs);
  const { run, ...facts } = twinRun(replayed, twin);
  const real = figuresOf(sent.log, sent.itl, 0);
  const simulated = figuresOf(run.log, run.itl, overheadMs);
  const realParts = before && after && partsBetween(before, after);
  const parts = [realParts, simulatedParts(run.log)] as const;
  return {
    ...{ plan, real, simulated, rows: sideBySide(real, simulated), twin: facts },
    parts: areTold(parts) ? parts : undefined,
    ...{ failures: sent.failures, void: sent.void },
  };
}

function areTold<T>(pair: readonly [T | undefined, T | undefined]): pair is readonly [T, T] {
  return pair.every((each) => each !== undefined);
}
