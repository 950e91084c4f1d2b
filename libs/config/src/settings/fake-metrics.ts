import type { EnginePresence } from '@baton/contract';
import { isObject, parseDuration, usToSeconds } from '@baton/kernel';
import type { DocumentRead } from '../option';
import type { Settings } from './live-settings';

/**
 * A number, or one that changes with time: from `start` towards `end`, with a period in seconds.
 */
export type FakeValue =
  | { readonly kind: 'fixed'; readonly value: number }
  | {
      readonly kind: FakeFunction;
      readonly start: number;
      readonly end: number;
      readonly periodSeconds: number;
    };

export const FAKE_FUNCTIONS = ['oscillate', 'ramp', 'rampreset', 'squarewave'] as const;

export type FakeFunction = (typeof FAKE_FUNCTIONS)[number];

/** One series of `vllm:lora_requests_info`. */
export interface FakeLoras {
  /** Comma-separated names. */
  readonly running: string;
  readonly waiting: string;
  /** Seconds since the Unix epoch. */
  readonly timestamp: number;
}

/** Values that scrapes show for every engine instead of the real ones; unset values stay real. */
export interface FakeMetrics {
  readonly runningRequests?: FakeValue;
  readonly waitingRequests?: FakeValue;
  readonly kvCacheUsage?: FakeValue;
  readonly loras?: readonly FakeLoras[];
}

/** llm-d's names of the metrics, by Baton's; with the highest sensible value. */
const VALUES = {
  'running-requests': { key: 'runningRequests', max: 1e9 },
  'waiting-requests': { key: 'waitingRequests', max: 1e9 },
  'kv-cache-usage': { key: 'kvCacheUsage', max: 1 },
} as const;

const NAMES = [...Object.keys(VALUES), 'loras'];

/**
 * The value `elapsedSeconds` after the functions were set, as llm-d-inference-sim computes it
 * (pkg/llm-d-inference-sim/fake_metrics.go): oscillate is a sine around the middle, ramp stays at
 * its end, rampreset begins again, squarewave holds each level for half a period.
 */
export function fakeValueAt(value: FakeValue, elapsedSeconds: number): number {
  if (value.kind === 'fixed') return value.value;
  const { start, end, periodSeconds } = value;
  const periods = elapsedSeconds / periodSeconds;
  const part = periods - Math.floor(periods);
  switch (value.kind) {
    case 'oscillate':
      return (start + end) / 2 + ((end - start) / 2) * Math.sin(2 * Math.PI * periods);
    case 'ramp':
      return periods >= 1 ? end : start + periods * (end - start);
    case 'rampreset':
      return start + part * (end - start);
    case 'squarewave':
      return part < 0.5 ? start : end;
  }
}

/**
 * The engine with its fake metrics. Requests are whole numbers, rounded towards zero; waiting ones
 * wait for capacity.
 */
export function withFakeMetrics(
  engine: EnginePresence,
  fake: FakeMetrics,
  elapsedSeconds: number,
): EnginePresence {
  const whole = (value: FakeValue | undefined): number | undefined =>
    value && Math.trunc(fakeValueAt(value, elapsedSeconds));
  const { gauges } = engine;
  const waiting = whole(fake.waitingRequests);
  return {
    ...engine,
    gauges: {
      ...gauges,
      running: whole(fake.runningRequests) ?? gauges.running,
      waitingCapacity: waiting ?? gauges.waitingCapacity,
      waitingDeferred: waiting === undefined ? gauges.waitingDeferred : 0,
      kvUsage: fake.kvCacheUsage ? fakeValueAt(fake.kvCacheUsage, elapsedSeconds) : gauges.kvUsage,
    },
  };
}

/** The engines with their current fake metrics. */
export function shownEngines(
  engines: readonly EnginePresence[],
  { config, sinceUs }: Settings,
  nowUs: number,
): readonly EnginePresence[] {
  const fake = parseFakeMetrics(config.fakeMetrics);
  if (fake === undefined) return engines;
  const elapsedSeconds = usToSeconds(nowUs - sinceUs('fakeMetrics'));
  return engines.map((engine) => withFakeMetrics(engine, fake, elapsedSeconds));
}

/** Checks the value of `fake_metrics`; its text is kept unchanged. */
export function readFakeMetrics(given: unknown): DocumentRead {
  if (!isObject(given)) return wrong([], 'must be a map');
  for (const [name, value] of Object.entries(given)) {
    const complaint = complaintAbout(name.replaceAll('_', '-'), value);
    if (complaint !== undefined) return wrong([name], complaint);
  }
  return { kind: 'document', plain: given };
}

/** @param text accepted by `readFakeMetrics`, as JSON; undefined when nothing is faked */
export function parseFakeMetrics(text: string | undefined): FakeMetrics | undefined {
  if (text === undefined) return undefined;
  const given = Object.entries(JSON.parse(text) as Record<string, unknown>);
  const entries = given.flatMap(([spelled, value]) => {
    const name = spelled.replaceAll('_', '-');
    if (name === 'loras') return [['loras', value]];
    return [[VALUES[name as keyof typeof VALUES].key, fakeValueOf(value)]];
  });
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as FakeMetrics);
}

function complaintAbout(name: string, value: unknown): string | undefined {
  if (name === 'loras') {
    return Array.isArray(value) && value.every(isLoras)
      ? undefined
      : 'must be a list of maps with running, waiting (texts) and timestamp (a number)';
  }
  if (!Object.hasOwn(VALUES, name)) return `cannot be faked; it may be ${NAMES.join(', ')}`;
  const { max } = VALUES[name as keyof typeof VALUES];
  const read = fakeValueOf(value);
  const bounds =
    read === undefined ? [] : read.kind === 'fixed' ? [read.value] : [read.start, read.end];
  const isIn = bounds.length > 0 && bounds.every((bound) => bound >= 0 && bound <= max);
  if (isIn) return undefined;
  return (
    `must be a number from 0 to ${max}, or ${FAKE_FUNCTIONS.join(', ')} like ` +
    `ramp:0:${max === 1 ? 1 : 10}:5s`
  );
}

function fakeValueOf(given: unknown): FakeValue | undefined {
  if (typeof given === 'number') return { kind: 'fixed', value: given };
  if (typeof given !== 'string') return undefined;
  const [name, start, end, period, ...rest] = given.split(':');
  const kind = FAKE_FUNCTIONS.find((each) => each === name);
  const periodSeconds = parseDuration(period ?? '', 's');
  if (kind === undefined || rest.length > 0 || !isNumeric(start) || !isNumeric(end))
    return undefined;
  if (periodSeconds === undefined || periodSeconds <= 0) return undefined;
  return { kind, start: Number(start), end: Number(end), periodSeconds };
}

function isNumeric(text: string | undefined): boolean {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text);
}

function isLoras(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { running, waiting, timestamp } = given;
  return (
    typeof running === 'string' && typeof waiting === 'string' && typeof timestamp === 'number'
  );
}

function wrong(path: readonly string[], complaint: string): DocumentRead {
  return { kind: 'problem', path, complaint };
}
