import {
  NEVER,
  type RequestPhase,
  REQUEST_PHASES,
  readPhases,
  type RequestLog,
  type RunRecord,
} from '@baton/analysis';
import type { Micros } from '@baton/kernel';
import { PHASE_NAMES } from './load-sections';

/** Default limit on the requests and steps of a trace: some 20 MB. */
export const TRACED_REQUESTS = 10_000;

const REQUESTS_PID = 1;
const FIRST_ENGINE_PID = 2;
const EVENTS_PER_CHUNK = 1_024;

type TraceEvent = Readonly<Record<string, unknown>>;

/** A step of an engine, or a leap of several. */
export interface TracedSteps {
  readonly engine: number;
  readonly startUs: Micros;
  readonly endUs: Micros;
  readonly steps: number;
  readonly promptTokens: number;
  readonly generatedTokens: number;
}

export interface TraceParts {
  readonly run: RunRecord;
  /** In the order of their beginning on the engine. Empty when steps were not recorded. */
  readonly steps: readonly TracedSteps[];
  /** Number of requests in the trace, from the first one. */
  readonly requests: number;
}

/**
 * A run in Chrome's trace event format, for ui.perfetto.dev and chrome://tracing, in pieces: one
 * process per engine with its steps and its gauges as counters, and one with the first requests as
 * asynchronous spans, one per phase. Format:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 */
export function* chromeTrace({ run, steps, requests }: TraceParts): Generator<string> {
  const traced = Math.min(requests, run.log.count);
  const note =
    `the first ${traced} of ${run.log.count} requests, the first ${steps.length} of ` +
    'the steps and leaps';
  yield `{"displayTimeUnit":"ms","otherData":{"note":${JSON.stringify(note)}},"traceEvents":[\n`;
  let separator = '';
  let pending: string[] = [];
  for (const event of events(run, steps, traced)) {
    pending.push(JSON.stringify(event));
    if (pending.length < EVENTS_PER_CHUNK) continue;
    yield separator + pending.join(',\n');
    separator = ',\n';
    pending = [];
  }
  if (pending.length > 0) yield separator + pending.join(',\n');
  yield '\n]}\n';
}

function* events(
  run: RunRecord,
  steps: readonly TracedSteps[],
  traced: number,
): Generator<TraceEvent> {
  const untilUs = lastInstant(run.log, traced);
  yield named(REQUESTS_PID, 'requests');
  for (const [index, engine] of run.engines.entries()) {
    yield named(FIRST_ENGINE_PID + index, engine.engineId);
    yield* counterEvents(run, index, untilUs);
  }
  for (const span of steps) yield stepEvent(span);
  for (let row = 0; row < traced; row++) yield* requestEvents(run, row);
}

function named(pid: number, name: string): TraceEvent {
  return { ph: 'M', name: 'process_name', pid, tid: 0, args: { name } };
}

function stepEvent(span: TracedSteps): TraceEvent {
  const { engine, startUs, endUs, steps, promptTokens, generatedTokens } = span;
  const kind = promptTokens > 0 ? 'prefill' : 'decode';
  return {
    ph: 'X',
    name: steps === 1 ? kind : `${kind}, ${steps} steps`,
    pid: FIRST_ENGINE_PID + engine,
    tid: 0,
    ts: startUs,
    dur: endUs - startUs,
    args: { prompt_tokens: promptTokens, generated_tokens: generatedTokens },
  };
}

function* counterEvents(run: RunRecord, engine: number, untilUs: number): Generator<TraceEvent> {
  const { series } = run;
  const pid = FIRST_ENGINE_PID + engine;
  for (let sample = 0; sample < series.samples; sample++) {
    const ts = series.startUs + sample * series.intervalUs;
    if (ts > untilUs) return;
    const i = engine * series.samples + sample;
    const sequences = { running: series.running[i], waiting: series.waiting[i] };
    yield { ph: 'C', name: 'sequences', pid, ts, args: sequences };
    yield { ph: 'C', name: 'KV usage %', pid, ts, args: { used: (series.kvUsage[i] ?? 0) * 100 } };
  }
}

function* requestEvents({ log, engines }: RunRecord, row: number): Generator<TraceEvent> {
  const spans = new Float64Array(REQUEST_PHASES.length);
  readPhases(log, row, spans);
  const arrivalUs = log.arrivalUs.at(row);
  const lastUs = spans.reduce((us, span) => (span === NEVER ? us : us + span), arrivalUs);
  const common = { cat: 'request', id: row, pid: REQUESTS_PID, tid: 0 };
  const args = {
    prompt_tokens: log.promptTokens[row],
    cached_tokens: log.cachedTokens[row],
    output_tokens: log.emittedTokens[row],
    prefill_engine: engines[log.prefillEngine[row]!]?.engineId ?? null,
    decode_engine: engines[log.decodeEngine[row]!]?.engineId ?? null,
  };
  yield { ph: 'b', name: `request ${row}`, ...common, ts: arrivalUs, args };
  let ts = arrivalUs;
  for (const [index, phase] of REQUEST_PHASES.entries()) {
    const us = spans[index]!;
    if (us === NEVER) continue;
    yield* phaseEvents(phase, common, [ts, (ts += us)]);
  }
  yield { ph: 'e', name: `request ${row}`, ...common, ts: lastUs };
}

function* phaseEvents(
  phase: RequestPhase,
  common: TraceEvent,
  [fromUs, untilUs]: readonly [number, number],
): Generator<TraceEvent> {
  yield { ph: 'b', name: PHASE_NAMES[phase], ...common, ts: fromUs };
  yield { ph: 'e', name: PHASE_NAMES[phase], ...common, ts: untilUs };
}

function lastInstant(log: RequestLog, rows: number): number {
  let lastUs = 0;
  for (let row = 0; row < rows; row++) lastUs = Math.max(lastUs, log.finishUs.at(row));
  return lastUs;
}
