import { secondsToUs } from '@baton/kernel';
import {
  buildLengthModel,
  drawArrivals,
  type Workload,
  WorkloadBuilder,
  workloadStream,
} from '@baton/workload';

export type Span = readonly [low: number, high: number];

/** A load outside of the fit. */
export interface LoadPlan {
  readonly requests: number;
  /** All whole numbers in the span have the same probability, except `avoided`. */
  readonly promptTokens: Span;
  readonly outputTokens: Span;
  /** Lengths of the grid. */
  readonly avoided: readonly number[];
  /**
   * Poisson arrivals at a rate per second, or a number of clients that each send a request when the
   * previous one is answered.
   */
  readonly arrivals: { readonly ratePerSecond: number } | { readonly clients: number };
  readonly seed: number;
}

/** The load in this many pieces that start independently. Equal plans give equal requests. */
export function loadOf(plan: LoadPlan, pieces: number): readonly Workload[] {
  const { requests } = plan;
  const ends = Array.from({ length: pieces }, (_none, k) =>
    Math.round(((k + 1) * requests) / pieces),
  );
  const requestOf = requestsOf(plan);
  return ends.map((end, k) => pieceOf(plan, { from: ends[k - 1] ?? 0, end, requestOf }));
}

interface PlannedRequest {
  readonly arrivalUs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

function requestsOf(plan: LoadPlan): (i: number) => PlannedRequest {
  const { seed, avoided } = plan;
  const lengths = (span: Span, purpose: string): ((i: number) => number) => {
    const model = buildLengthModel({ kind: 'uniform', min: span[0], max: span[1] });
    const key = workloadStream(seed, purpose).integer(2 ** 53);
    return (i) => model(key, i);
  };
  const prompt = lengths(plan.promptTokens, 'live prompts');
  const output = lengths(plan.outputTokens, 'live outputs');
  const arrivalUs = arrivalsOf(plan);
  return (i) => {
    const tokens = prompt(i);
    return {
      arrivalUs: arrivalUs[i] ?? 0,
      promptTokens: avoided.includes(tokens) ? tokens + 1 : tokens,
      outputTokens: output(i),
    };
  };
}

function pieceOf(
  { arrivals }: LoadPlan,
  piece: {
    readonly from: number;
    readonly end: number;
    readonly requestOf: (i: number) => PlannedRequest;
  },
): Workload {
  const { from, end, requestOf } = piece;
  const beginUs = end > from ? requestOf(from).arrivalUs : 0;
  const builder = new WorkloadBuilder();
  for (let i = from; i < end; i++) {
    const { arrivalUs, ...lengths } = requestOf(i);
    const isClosed = 'clients' in arrivals && i - from >= arrivals.clients;
    builder.add({
      arrivalUs: arrivalUs - beginUs,
      ...lengths,
      ...(isClosed ? { after: i - from - arrivals.clients } : {}),
    });
  }
  return builder.build();
}

function arrivalsOf({ arrivals, requests, seed }: LoadPlan): ArrayLike<number> {
  if ('clients' in arrivals) return [];
  const { ratePerSecond } = arrivals;
  return drawArrivals(
    { kind: 'poisson', ratePerSecond },
    { count: requests, exactRate: true },
    workloadStream(seed, 'live arrivals'),
  );
}

/**
 * The load as it was sent: instants of sending and lengths by the server's count, of the requests
 * that were answered whole. Clients of a closed loop keep waiting for their answers; `pauseMs` is
 * their additional time between an answer and the next request.
 */
export function asSent(
  workload: Workload,
  sent: {
    readonly arrivalUs: ArrayLike<number>;
    /** Undefined: not answered whole. */
    readonly lengths: readonly (Readonly<Record<'prompt' | 'output', number>> | undefined)[];
  },
  pauseMs: number,
): Workload {
  const builder = new WorkloadBuilder();
  const rows = new Map<number, number>();
  sent.lengths.forEach((length, row) => {
    if (length === undefined) return;
    const before = rows.get(workload.after[row] ?? -1);
    rows.set(row, builder.count);
    builder.add({
      arrivalUs: before === undefined ? sent.arrivalUs[row]! : secondsToUs(pauseMs / 1_000),
      promptTokens: length.prompt,
      outputTokens: length.output,
      ...(before === undefined ? {} : { after: before }),
    });
  });
  return builder.build();
}
