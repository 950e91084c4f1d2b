import {
  NEVER,
  type Phase,
  PHASES,
  readPhases,
  type RequestLog,
  type RunRecord,
} from '@baton/analysis';
import { busySpans } from './busy-spans';
import { PHASE_NAMES } from './load-sections';

/** Requests that a trace tells of when nothing else is asked for: about 10 MB. */
export const TRACED_REQUESTS = 10_000;

const REQUESTS_PID = 1;
const FIRST_ENGINE_PID = 2;
const EVENTS_PER_CHUNK = 1_024;

type TraceEvent = Readonly<Record<string, unknown>>;

/**
 * A run in Chrome's trace event format, for ui.perfetto.dev and chrome://tracing, in pieces: one process per engine with the spans in which
 * it had work and its gauges as counters, and one with the first requests as asynchronous spans, one per phase.
 * Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 */
export function* chromeTrace(run: RunRecord, requests = TRACED_REQUESTS): Generator<string> {
  const traced = Math.min(requests, run.log.count);
  const note = `requests: the first ${traced} of ${run.log.count}`;
  yield `{"displayTimeUnit":"ms","otherData":{"note":${JSON.stringify(note)}},"traceEvents":[\n`;
  let separator = '';
  let pending: string[] = [];
  for (const event of events(run, traced)) {
    pending.push(JSON.stringify(event));
    if (pending.length < EVENTS_PER_CHUNK) continue;
    yield separator + pending.join(',\n');
    separator = ',\n';
    pending = [];
  }
  if (pending.length > 0) yield separator + pending.join(',\n');
  yield '\n]}\n';
}

function* events(run: RunRecord, traced: number): Generator<TraceEvent> {
  const untilUs = lastInstant(run.log, traced);
  yield named(REQUESTS_PID, 'requests');
  for (const [index, engine] of run.engines.entries()) {
    yield named(FIRST_ENGINE_PID + index, engine.engineId);
    yield* busyEvents(run, index, untilUs);
    yield* counterEvents(run, index, untilUs);
  }
  for (let row = 0; row < traced; row++) yield* requestEvents(run, row);
}

function named(pid: number, name: string): TraceEvent {
  return { ph: 'M', name: 'process_name', pid, tid: 0, args: { name } };
}

function* busyEvents({ log }: RunRecord, engine: number, untilUs: number): Generator<TraceEvent> {
  const at = { pid: FIRST_ENGINE_PID + engine, tid: 0 };
  for (const { fromUs, untilUs: endUs } of busySpans(log, engine, untilUs)) {
    if (fromUs > untilUs) return;
    yield { ph: 'X', name: 'has work', ...at, ts: fromUs, dur: endUs - fromUs };
  }
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
  const spans = new Float64Array(PHASES.length);
  readPhases(log, row, spans);
  const arrivalUs = log.arrivalUs[row]!;
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
  for (const [index, phase] of PHASES.entries()) {
    const us = spans[index]!;
    if (us === NEVER) continue;
    yield* phaseEvents(phase, common, [ts, (ts += us)]);
  }
  yield { ph: 'e', name: `request ${row}`, ...common, ts: lastUs };
}

function* phaseEvents(
  phase: Phase,
  common: TraceEvent,
  [fromUs, untilUs]: readonly [number, number],
): Generator<TraceEvent> {
  yield { ph: 'b', name: PHASE_NAMES[phase], ...common, ts: fromUs };
  yield { ph: 'e', name: PHASE_NAMES[phase], ...common, ts: untilUs };
}

function lastInstant(log: RequestLog, rows: number): number {
  let lastUs = 0;
  for (let row = 0; row < rows; row++) lastUs = Math.max(lastUs, log.finishUs[row]!);
  return lastUs;
}
