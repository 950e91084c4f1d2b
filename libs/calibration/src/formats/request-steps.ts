import { decodeStep, type MeasuredStep, prefillStep } from '../fits/measured-step';

/** One request as measured by a client. */
export interface RequestTiming {
  readonly startMs: number;
  readonly ttftMs: number;
  /** Between tokens, or pieces of several tokens. */
  readonly gapsMs: ArrayLike<number>;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /**
   * True: all gaps equal their mean. Such a request is usable only when no prompt was computed in
   * between.
   */
  readonly isAveraged?: boolean;
}

export interface RequestSteps {
  readonly steps: readonly MeasuredStep[];
  /** Requests whose first token no other request delayed. */
  readonly alone: number;
  /** Number of these requests whose prompt took several steps. */
  readonly tooLong: number;
}

/** Minimum number of whole gaps within an interval. */
const FEWEST_GAPS = 3;

/**
 * Derives step times from the times of requests. The time to first token of a request that runs
 * alone is a prefill step. While no prompt is computed, the batch only decodes; until a request
 * joins or leaves, the mean gap between tokens is the time of a step at the mean context.
 */
export function stepsOfRequests(
  requests: readonly RequestTiming[],
  maxNumBatchedTokens: number,
): RequestSteps {
  const sweep = new Sweep(requests);
  sweep.run();
  const alone = requests.filter((_, i) => sweep.isAlone(i));
  const fitting = alone.filter(({ inputTokens }) => inputTokens <= maxNumBatchedTokens);
  const prefills = fitting.map(({ inputTokens, ttftMs }) =>
    prefillStep({ tokens: inputTokens, ms: ttftMs }),
  );
  return {
    steps: [...prefills, ...sweep.decodes],
    alone: alone.length,
    tooLong: alone.length - fitting.length,
  };
}

type EventKind = 'last-token' | 'first-token' | 'start';

interface Event {
  readonly atMs: number;
  readonly kind: EventKind;
  readonly request: number;
}

/** At the same instant, requests leave before others join. */
const ORDER: Readonly<Record<EventKind, number>> = { 'last-token': 0, 'first-token': 1, start: 2 };

/** Passes once over all requests in time, and visits each interval of an unchanged batch. */
class Sweep {
  readonly decodes: MeasuredStep[] = [];
  private readonly prefilling = new Set<number>();
  private readonly decoding = new Map<number, TokenTimes>();
  private readonly disturbed = new Set<number>();
  private readonly stalls: Stalls;

  constructor(private readonly requests: readonly RequestTiming[]) {
    this.stalls = new Stalls(requests);
  }

  isAlone(request: number): boolean {
    return !this.disturbed.has(request);
  }

  run(): void {
    const events = this.requests.flatMap(eventsOf);
    events.sort((a, b) => a.atMs - b.atMs || ORDER[a.kind] - ORDER[b.kind]);
    let fromMs = -Infinity;
    for (const event of events) {
      if (this.prefilling.size === 0) this.look(fromMs, event.atMs);
      this.apply(event);
      fromMs = event.atMs;
    }
  }

  private apply({ kind, request, atMs }: Event): void {
    switch (kind) {
      case 'start':
        if (this.prefilling.size + this.decoding.size > 0) this.disturb(request);
        this.prefilling.add(request);
        return;
      case 'first-token':
        this.prefilling.delete(request);
        this.startDecoding(request, atMs);
        return;
      case 'last-token':
        this.decoding.delete(request);
    }
  }

  private startDecoding(request: number, atMs: number): void {
    const timing = this.requests[request]!;
    if (totalOf(timing.gapsMs) === 0) return;
    const isBlurred = this.stalls.blur(timing);
    this.decoding.set(request, new TokenTimes(timing, { firstMs: atMs, isBlurred }));
  }

  /** A request whose prompt is being computed shares its steps with a newcomer. */
  private disturb(newcomer: number): void {
    this.disturbed.add(newcomer);
    for (const other of this.prefilling) this.disturbed.add(other);
  }

  private look(fromMs: number, toMs: number): void {
    if (this.decoding.size === 0 || toMs <= fromMs) return;
    let [spanMs, gaps, context, telling] = [0, 0, 0, 0];
    for (const tokens of this.decoding.values()) {
      if (tokens.isBlurred) {
        context += tokens.contextAt((fromMs + toMs) / 2);
        continue;
      }
      const whole = tokens.gapsWithin(fromMs, toMs);
      context += whole.context;
      spanMs += whole.spanMs;
      gaps += whole.gaps;
      telling++;
    }
    if (gaps < Math.max(FEWEST_GAPS, telling) || spanMs <= 0) return;
    this.decodes.push(decodeStep(this.decoding.size, Math.round(context), spanMs / gaps));
  }
}

/** The instants of one request's tokens. Intervals must ascend in time. */
class TokenTimes {
  /** Index of the first gap that has not ended, and its start. */
  private next = 0;
  private beganMs: number;
  private readonly tokensPerGap: number;
  private readonly firstMs: number;
  private readonly endMs: number;
  /** True: its gaps are not those of single steps. */
  readonly isBlurred: boolean;

  constructor(
    private readonly request: RequestTiming,
    { firstMs, isBlurred }: { firstMs: number; isBlurred: boolean },
  ) {
    const { gapsMs, outputTokens } = request;
    this.isBlurred = isBlurred;
    this.firstMs = firstMs;
    this.beganMs = firstMs;
    this.tokensPerGap = gapsMs.length > 0 ? Math.max(1, (outputTokens - 1) / gapsMs.length) : 0;
    this.endMs = firstMs + totalOf(gapsMs);
  }

  /** Gaps that begin and end within the interval, their total length, and their mean context. */
  gapsWithin(fromMs: number, toMs: number): { gaps: number; spanMs: number; context: number } {
    const { gapsMs } = this.request;
    while (this.next < gapsMs.length && this.beganMs < fromMs) this.advance();
    const [first, firstMs] = [this.next, this.beganMs];
    while (this.next < gapsMs.length && this.beganMs + gapsMs[this.next]! <= toMs) this.advance();
    const gaps = this.next - first;
    const context = this.contextOf(first + Math.max(0, gaps - 1) / 2);
    return { gaps, spanMs: this.beganMs - firstMs, context };
  }

  /** The context when tokens come evenly from the first to the last. */
  contextAt(atMs: number): number {
    const span = this.endMs - this.firstMs;
    return this.contextOf(
      span > 0 ? ((atMs - this.firstMs) / span) * this.request.gapsMs.length : 0,
    );
  }

  /** Prompt and output tokens that the step behind a gap attends to. */
  private contextOf(gap: number): number {
    return this.request.inputTokens + 1 + gap * this.tokensPerGap;
  }

  private advance(): void {
    this.beganMs += this.request.gapsMs[this.next]!;
    this.next++;
  }
}

/**
 * The times at which prompts were computed, when the mean gap of other requests exceeds their
 * steps.
 */
class Stalls {
  private readonly begins: Float64Array;
  private readonly ends: Float64Array;

  constructor(requests: readonly RequestTiming[]) {
    this.begins = Float64Array.from(requests, ({ startMs }) => startMs).sort();
    this.ends = Float64Array.from(requests, ({ startMs, ttftMs }) => startMs + ttftMs).sort();
  }

  /** Marks gaps of the request that are a mean over more than its decode steps. */
  blur({ isAveraged, startMs, ttftMs, gapsMs }: RequestTiming): boolean {
    if (!isAveraged) return false;
    const firstMs = startMs + ttftMs;
    const begun = countBelow(this.begins, firstMs + totalOf(gapsMs));
    const ended = countBelow(this.ends, firstMs + Number.EPSILON * firstMs);
    return begun > ended;
  }
}

/** Number of the ascending values that are at most `limit`. */
function countBelow(rising: Float64Array, limit: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function eventsOf(timing: RequestTiming, request: number): Event[] {
  const firstMs = timing.startMs + timing.ttftMs;
  return [
    { atMs: timing.startMs, kind: 'start', request },
    { atMs: firstMs, kind: 'first-token', request },
    { atMs: firstMs + totalOf(timing.gapsMs), kind: 'last-token', request },
  ];
}

function totalOf(gapsMs: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < gapsMs.length; i++) sum += gapsMs[i]!;
  return sum;
}
