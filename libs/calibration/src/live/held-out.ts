import { Failure, mean } from '@baton/kernel';
import type { Workload } from '@baton/workload';
import type { Counters } from './counters';
import { type EngineTimes, type Measurements, wholePrompts } from './decompose';
import { type Beside, type Figures, figuresOf, sideBySide } from './figures';
import { type FirstTokenParts, partsBetween, simulatedParts } from './first-token-parts';
import type { LoadRequest } from './live-request';
import { asSent, loadOf, type LoadPlan } from './load-plan';
import { straight } from './statistics';
import type { LiveTarget, TargetRun } from './target';
import type { EngineCounts } from './topology-of';
import { type TwinOptions, type TwinRuns, twinRuns } from './twin';

/** A load outside of the fit, in its real and its simulated run. */
export interface HeldOut {
  readonly plan: LoadPlan;
  readonly real: Figures;
  readonly simulated: Figures;
  readonly rows: readonly Beside[];
  readonly twin: Omit<TwinRuns, 'runs'>;
  /** The parts of a cluster with hand-overs and metrics: real and simulated. */
  readonly parts: readonly [FirstTokenParts, FirstTokenParts] | undefined;
  readonly failures: TargetRun['failures'];
  readonly void: string | null;
}

/**
 * Default load: this share of the time of the busier stage, by the measured times of single
 * requests.
 */
const BUSY = 0.4;

export interface LoadFacts {
  readonly measured: Measurements;
  readonly times: EngineTimes;
  readonly engines: EngineCounts;
  readonly seed: number;
}

/** A load with other lengths than the grid's. By default its rate leaves the engines some room. */
export function planLoad(request: LoadRequest, facts: LoadFacts): LoadPlan {
  const lengths = wholePrompts(facts.measured).map(({ tokens }) => tokens);
  const promptTokens = request.promptTokens ?? [Math.min(...lengths), Math.max(...lengths) - 1];
  const { requests, outputTokens, clients, ratePerSecond } = request;
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

interface Piece {
  readonly workload: Workload;
  readonly sent: TargetRun;
  /** The counters of the server before and afterwards. Undefined without metrics. */
  readonly counted: readonly [Counters, Counters] | undefined;
}

/** A load that is sent in pieces. */
export class HeldOutLoad {
  private readonly pieces: Piece[] = [];
  private readonly workloads: readonly Workload[];

  constructor(
    private readonly target: LiveTarget,
    private readonly plan: LoadPlan,
    pieces: number,
  ) {
    this.workloads = loadOf(plan, pieces);
  }

  /** Sends the next piece and waits until all of it is answered. */
  async send(): Promise<void> {
    const { target, pieces, workloads } = this;
    const workload = workloads[pieces.length];
    if (workload === undefined || workload.count === 0) return;
    const before = await target.counters();
    const sent = await target.run(workload);
    const after = before && (await target.counters());
    pieces.push({ workload, sent, counted: before && after && [before, after] });
  }

  /**
   * Simulates the same requests at the same instants, and compares. @throws Failure when no request
   * was answered
   */
  compareWithTwin({
    overheadMs,
    ...options
  }: TwinOptions & { readonly overheadMs: number }): HeldOut {
    const { pieces, plan } = this;
    const sent = pieces.map((piece) => piece.sent);
    const failures = failuresOf(sent);
    const replayed = pieces
      .map((piece) => replayOf(piece, overheadMs))
      .filter(({ count }) => count > 0);
    if (replayed.length === 0) {
      throw new Failure(`No request of the load was answered: ${failures[0]?.example ?? ''}`);
    }
    const { runs, ...twin } = twinRuns(replayed, options);
    const [real, simulated] = [figuresOf(sent, 0), figuresOf(runs, overheadMs)];
    const counted = pieces.flatMap((piece) => (piece.counted ? [piece.counted] : []));
    const logs = runs.map(({ log }) => log);
    const parts = [partsBetween(counted), simulatedParts(logs)] as const;
    return {
      plan,
      real,
      simulated,
      rows: sideBySide(real, simulated),
      twin,
      parts: areBothKnown(parts) ? parts : undefined,
      failures,
      void: sent.find((run) => run.void !== null)?.void ?? null,
    };
  }
}

function replayOf({ workload, sent: { answers, log } }: Piece, overheadMs: number): Workload {
  const lengths = answers.map(
    (answer) => answer && { prompt: answer.inputTokens, output: answer.outputTokens },
  );
  return asSent(workload, { arrivalUs: [...log.arrivalUs], lengths }, overheadMs);
}

/** Failures of all runs, by kind. */
function failuresOf(runs: readonly TargetRun[]): TargetRun['failures'] {
  const byKind = new Map<string, TargetRun['failures'][number]>();
  for (const failure of runs.flatMap(({ failures }) => failures)) {
    const known = byKind.get(failure.error);
    const count = failure.count + (known?.count ?? 0);
    byKind.set(failure.error, { ...(known ?? failure), count });
  }
  return [...byKind.values()];
}

function areBothKnown<T>(pair: readonly [T | undefined, T | undefined]): pair is readonly [T, T] {
  return pair.every((each) => each !== undefined);
}
