import {
  ENGINE_PHASES,
  NEVER,
  outcomeCode,
  REQUEST_PHASES,
  readPhases,
  RequestLog,
  type Outcome,
  type RequestPhase,
} from '@baton/analysis';
import type {
  EngineFact,
  RequestTimeline,
  SequenceTimeline,
  TimelineEngine,
  TimelineEvent,
  TimelineSpan,
  TimelineState,
} from '@baton/contract';
import type { RequestTrace, SequenceTrace } from './request-trace';

export interface TimelineContext {
  readonly api: string;
  /** Simulated µs per µs of the wall clock. */
  readonly speedup: number;
  /** µs of the wall clock since the Unix epoch. */
  readonly nowUs: number;
  readonly engineOf: (engineId: string) => TimelineEngine;
}

/** Simulated µs since the arrival, for µs of the wall clock. */
type Since = (wallUs: number) => number;

export function timelineOf(request: RequestTrace, context: TimelineContext): RequestTimeline {
  const { id, requestId, endpoint, model, arrivalUs } = request;
  const { api, speedup, nowUs } = context;
  const since: Since = (us) => Math.max(0, Math.round((us - arrivalUs) * speedup));
  const ends = request.sequences.map(({ end }) => end?.atUs ?? nowUs);
  const sequences = request.sequences.map((trace) => sequenceOf(trace, { ...context, since }));
  return {
    object: 'request.timeline',
    id,
    request_id: requestId,
    endpoint,
    model,
    state: stateOfAll(sequences),
    api,
    arrival_us: arrivalUs,
    speedup,
    duration_us: since(Math.max(...ends)),
    sequences,
  };
}

type SequenceContext = TimelineContext & { readonly since: Since };

function sequenceOf(trace: SequenceTrace, context: SequenceContext): SequenceTimeline {
  const { job, index, seen, marks, end, received } = trace;
  const { since } = context;
  const log = logOf(trace, since);
  const preemptions = trace.all('preempted').length;
  return {
    id: job.requestId,
    index,
    state: stateOf(trace),
    finish_reason: end?.reason ?? null,
    error: end?.error ?? null,
    flow: job.flow,
    prompt_tokens: job.promptTokens,
    cached_tokens: trace.cachedTokens,
    transferred_tokens: seen.transferredTokens,
    output_tokens: received,
    preemptions,
    prefill_engine: engineOf(seen.prefillEngine, context),
    decode_engine: engineOf(seen.decodeEngine, context),
    phases: phasesOf(log, PHASES_OF[job.flow], end !== undefined),
    prefill_chunks: trace.all('chunk').map(({ fact }) => spanOf('chunk', fact, since)),
    held: heldOf(trace, since),
    events: eventsOf(trace, since, context),
    steps: {
      count: marks.count,
      per_row: marks.perRow,
      rows: marks.list().map(([atUs, tokens]) => [since(atUs), tokens] as const),
    },
  };
}

/** The sequence as a row of a run, so that its phases are the same as in every report. */
export function logOf(trace: SequenceTrace, since: Since): RequestLog {
  const { job, seen, marks, end } = trace;
  const log = new RequestLog(1);
  const at = (us: number | undefined): number => (us === undefined ? NEVER : since(us));
  const isHandedOver = seen.heldUs !== undefined || job.flow === 'attach';
  const transfer = trace.all('transfer').at(-1)?.fact;
  log.outcome[0] = outcomeCode(outcomeOf(stateOf(trace)));
  log.promptTokens[0] = job.promptTokens;
  log.emittedTokens[0] = trace.received;
  log.cachedTokens[0] = trace.cachedTokens;
  log.transferredTokens[0] = seen.transferredTokens;
  log.arrivalUs.set(0, 0);
  log.prefillStartUs.set(0, job.flow === 'attach' ? 0 : at(seen.scheduledUs));
  log.heldUs.set(0, job.flow === 'attach' ? 0 : at(seen.heldUs));
  if (isHandedOver) {
    log.transferStartUs.set(0, at(transfer?.[1] ?? seen.decodeUs));
    log.transferEndUs.set(0, at(transfer?.[2] ?? seen.decodeUs));
  }
  log.firstTokenUs.set(0, at(marks.firstUs));
  log.finishUs.set(0, end === undefined ? NEVER : at(marks.lastUs ?? end.atUs));
  return log;
}

function outcomeOf(state: TimelineState): Outcome {
  if (state === 'running') return 'unfinished';
  return state === 'completed' ? 'completed' : 'failed';
}

/** Phases by route; a leg of an outside router has only its own phases. */
const PHASES_OF: Readonly<Record<SequenceTrace['job']['flow'], readonly RequestPhase[]>> = {
  route: ENGINE_PHASES,
  local: ['queue', 'prefill', 'decode'],
  hold: ['queue', 'prefill'],
  attach: ['hold', 'transfer', 'decode_wait', 'decode'],
};

/** The phases of a sequence without gaps; the current phase of a running sequence has no end. */
function phasesOf(
  log: RequestLog,
  names: readonly RequestPhase[],
  hasEnded: boolean,
): TimelineSpan[] {
  const lengths = new Float64Array(REQUEST_PHASES.length);
  readPhases(log, 0, lengths);
  const spans: TimelineSpan[] = [];
  let startUs = 0;
  for (const name of names) {
    const length = lengths[REQUEST_PHASES.indexOf(name)]!;
    const isOpen = length === NEVER;
    if (isOpen && hasEnded) continue;
    // Clocks of two machines may differ: a duration is never negative.
    const duration = isOpen ? null : Math.max(0, length);
    const end = duration === null ? null : startUs + duration;
    spans.push({ name, start_us: startUs, end_us: end, duration_us: duration });
    if (end === null) break;
    startUs = end;
  }
  return spans;
}

function spanOf(name: string, [, atUs, endUs, tokens]: EngineFact, since: Since): TimelineSpan {
  const [start, end] = [since(atUs), since(endUs)];
  return { name, start_us: start, end_us: end, duration_us: end - start, tokens };
}

function heldOf({ seen, ...trace }: SequenceTrace, since: Since): TimelineSpan | null {
  if (seen.heldUs === undefined) return null;
  const start = since(seen.heldUs);
  const released = [...trace.stages.values()]
    .flatMap(({ facts }) => facts)
    .find(([kind]) => kind === 'released');
  const end = released === undefined ? null : since(released[1]);
  const duration = end === null ? null : end - start;
  return { name: 'held', start_us: start, end_us: end, duration_us: duration };
}

function eventsOf(trace: SequenceTrace, since: Since, context: TimelineContext): TimelineEvent[] {
  const { seen, marks, end } = trace;
  const events: TimelineEvent[] = [{ name: 'arrived', at_us: 0 }];
  const add = (name: string, us: number | undefined, engineId: string | undefined): void => {
    if (us === undefined) return;
    const engine = engineOf(engineId, context)?.name;
    events.push({ name, at_us: since(us), ...(engine === undefined ? {} : { engine }) });
  };
  add('scheduled', seen.scheduledUs, seen.prefillEngine);
  add('held', seen.heldUs, seen.prefillEngine);
  for (const kind of ['taken', 'reserved', 'preempted', 'released'] as const) {
    for (const { engineId, fact } of trace.all(kind)) add(kind, fact[1], engineId);
  }
  for (const { engineId, fact } of trace.all('transfer')) {
    add('transfer_started', fact[1], engineId);
    add('transfer_ended', fact[2], engineId);
  }
  add('admitted', seen.decodeUs, seen.decodeEngine);
  add('first_token', marks.firstUs, seen.decodeEngine);
  add('finished', end === undefined ? undefined : (marks.lastUs ?? end.atUs), seen.decodeEngine);
  // The sort is stable: events of the same instant stay in the order of the steps of a request.
  return events.sort((a, b) => a.at_us - b.at_us);
}

function engineOf(id: string | undefined, context: TimelineContext): TimelineEngine | null {
  return id === undefined ? null : context.engineOf(id);
}

function stateOf({ end }: SequenceTrace): TimelineState {
  if (end === undefined) return 'running';
  if (end.reason === 'abort') return 'aborted';
  return end.reason === 'error' ? 'failed' : 'completed';
}

/** The worst state of its sequences; it runs while one of them does. */
function stateOfAll(sequences: readonly SequenceTimeline[]): TimelineState {
  const order: readonly TimelineState[] = ['running', 'failed', 'aborted', 'completed'];
  return order.find((state) => sequences.some((each) => each.state === state)) ?? 'completed';
}
