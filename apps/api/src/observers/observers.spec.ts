import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig } from '@baton/config';
import {
  BatonError,
  emptyFrameEntry,
  type EngineJob,
  type EnginePresence,
  type FrameEntry,
  FrameWriter,
  packEpoch,
} from '@baton/contract';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import type { ClusterView } from '../cluster/cluster-view';
import type { ModelCatalog } from '../cluster/model-catalog';
import { FrameInbox } from '../frames/frame-inbox';
import type { Resender } from '../frames/resender';
import type { Sequence, SequenceOwner } from '../sequences/sequence';
import { SequenceTable } from '../sequences/sequence-table';
import { CallClasses } from '../http/access/call-classes';
import { RateMeter } from './live-page/rate-meter';
import { FaultMetrics } from './metrics/fault-metrics';
import { RequestMetrics } from './metrics/request-metrics';
import { Observers } from './port/observers';
import type { ObservedCall, ObservedRequest, RequestObserver } from './port/port';
import { EventLog } from './recording/event-log';
import { RequestRecorder } from './recording/request-recorder';
import { Timelines } from './timelines/timelines';

const LOG = { info: () => undefined, warn: () => undefined } as unknown as Logger;
const IDENTITY = { apiId: 'api-test', startedAt: 0 };
const ENGINES = [presenceOf('p', 'prefill'), presenceOf('d', 'decode')];
const CALL = {
  requestId: 'x',
  arrivalUs: 0,
  body: {},
  message: { url: '/v1/completions', headers: {} },
} as unknown as ObservedCall;

function presenceOf(engineId: string, stage: 'prefill' | 'decode'): EnginePresence {
  return { engineId, stage, index: 0, model: 'm' } as unknown as EnginePresence;
}

function atUs(processMs: number): number {
  return Math.round((performance.timeOrigin + processMs) * 1_000);
}

/** One frame for the sequence with this number, or the end of that sequence by the client. */
interface Step {
  readonly of: number;
  readonly kind: FrameEntry['kind'] | 'left';
  readonly stage: 'prefill' | 'decode';
  readonly count: number;
  readonly afterMs: number;
}

const STEP = fc.record<Step>({
  of: fc.nat(3),
  kind: fc.constantFrom('scheduled', 'handed-over', 'tokens', 'tokens', 'tokens', 'end', 'left'),
  stage: fc.constantFrom('prefill', 'decode'),
  count: fc.integer({ min: 1, max: 3 }),
  afterMs: fc.integer({ min: 1, max: 400 }),
});

let folder = '';
let nowMs = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-observers-'));
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** The observers of one run, in the order of the list. */
function observersOf(table: SequenceTable, run: string, registry: Registry) {
  const [record, logRequests] = ['record', 'events'].map((name) => join(folder, `${run}.${name}`));
  const config = defaultConfig({ record, logRequests, speedup: 10 });
  const cluster = {
    find: () => undefined,
    nameOf: (engineId: string) => engineId,
  } as unknown as ClusterView;
  const bus = { subscribe: () => Promise.resolve(() => Promise.resolve()) };
  const processClock = { latenessMs: () => 0 };
  const transport = { bus, processClock, isConnected: true } as unknown as Transport;
  const catalog = { maxModelLen: 8_192 } as ModelCatalog;
  return {
    metrics: new RequestMetrics(config, catalog, table, registry),
    faults: new FaultMetrics(registry),
    recorder: new RequestRecorder(config, IDENTITY, LOG, new CallClasses(config), cluster),
    events: new EventLog(config, LOG, cluster),
    timelines: new Timelines(config, transport, IDENTITY, LOG, cluster),
    meter: new RateMeter(config, transport),
  };
}

function jobOf(index: number): (streamId: number) => EngineJob {
  return (streamId) => ({
    requestId: `r-${index}`,
    streamId,
    submission: 1,
    apiId: IDENTITY.apiId,
    causeUs: atUs(0),
    arrivalUs: atUs(0),
    promptTokens: 10,
    blockHashes: [],
    outputTokens: 9,
    endReason: 'stop',
    maxTokens: 9,
    priority: 0,
    flow: index % 2 === 0 ? 'route' : 'local',
  });
}

/** Output of all observers after the steps, in this order. */
async function shownAfter(steps: readonly Step[], order: readonly number[], run: string) {
  nowMs = 1_000;
  const table = new SequenceTable();
  const registry = new Registry();
  const parts = observersOf(table, run, registry);
  const { metrics, meter, timelines } = parts;
  const inOrder: RequestObserver[] = Object.values(parts);
  const observers = new Observers(order.map((place) => inOrder[place]!));
  meter.switchOn(nowMs);
  await observers.start();
  const resender = { request: () => undefined } as unknown as Resender;
  const inbox = new FrameInbox(LOG, table, resender, observers);
  const sequences: Sequence[] = [];
  const request = requestOf(sequences);
  const over = new Set<Sequence>();
  const end = (sequence: Sequence, reason: 'stop' | 'abort'): void => {
    if (over.has(sequence)) return;
    over.add(sequence);
    observers.ended(sequence, { reason }, request);
    table.release(sequence);
  };
  const owner = ownerOf((sequence) => end(sequence, 'stop'));
  for (let index = 0; index < 4; index += 1) {
    const job = jobOf(index)(table.nextIds(1)[0]!);
    sequences.push(table.open(owner, { index, nowMs, job }));
  }
  observers.refused(CALL, new BatonError('queue_full'));
  observers.opened(request);
  for (const step of steps) {
    nowMs += step.afterMs;
    const sequence = sequences[step.of]!;
    if (step.kind === 'left') end(sequence, 'abort');
    else inbox.receive(frameOf(sequence, step, step.kind));
  }
  for (const sequence of sequences) end(sequence, 'abort');
  observers.closed(request, { reason: 'abort', isSlowReader: true });
  const timeline = await timelines.find({ owner: undefined, id: 'cmpl-x' });
  await observers.stop();
  const read = (name: string): string => readFileSync(join(folder, `${run}.${name}`), 'utf8');
  metrics.show(ENGINES);
  return {
    metrics: await registry.metrics(),
    rates: meter.take(nowMs),
    timeline,
    record: read('record'),
    events: read('events'),
  };
}

function requestOf(sequences: Sequence[]): ObservedRequest {
  const generation = { choices: 2 } as ObservedRequest['generation'];
  const names = { id: 'cmpl-x', model: 'm', endpoint: '/v1/completions', sessionKey: 7 };
  return { call: CALL, generation, ...names, sequences };
}

function ownerOf(onEnd: (sequence: Sequence) => void): SequenceOwner {
  return {
    isDirty: false,
    onNote: () => undefined,
    onTokens: () => undefined,
    onEnd,
    onFailure: onEnd,
    flush: () => undefined,
  };
}

function frameOf({ streamId, received }: Sequence, step: Step, kind: FrameEntry['kind']): Buffer {
  const { stage, count } = step;
  const first = kind === 'end' ? received + count : kind === 'tokens' ? received : 1_000 * count;
  const writer = new FrameWriter(stage === 'prefill' ? 'p' : 'd', stage);
  const known = { kind, streamId, first, count, epoch: packEpoch(1, 1), reason: 'stop' } as const;
  writer.add({ ...emptyFrameEntry(), ...known });
  return writer.take(atUs(nowMs - 1));
}

describe('the observers', () => {
  it('show the same in any order of calls', async () => {
    const steps = fc.array(STEP, { minLength: 10, maxLength: 60 });
    const order = fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(steps, order, async (taken, shuffled) => {
        const names = [`${(run += 1)}a`, `${run}b`] as const;
        const listed = await shownAfter(taken, [0, 1, 2, 3, 4, 5], names[0]);
        expect(await shownAfter(taken, shuffled, names[1])).toEqual(listed);
        expect(listed.record.trimEnd().split('\n')).toHaveLength(5);
        expect(listed.timeline?.sequences).toHaveLength(4);
      }),
      { numRuns: runsOf(40), verbose: true },
    );
  });

  it('are called only while they are on, and only for events that they handle', () => {
    const seen: string[] = [];
    const first = { isOn: false, closed: () => seen.push('first') };
    const second = { closed: () => seen.push('second') };
    const observers = new Observers([first, second] as RequestObserver[]);
    observers.closed({} as ObservedRequest, { reason: 'stop', isSlowReader: false });
    observers.written({ engineId: 'e', stage: 'decode', stepEndUs: 0 });
    first.isOn = true;
    observers.refresh();
    observers.closed({} as ObservedRequest, { reason: 'stop', isSlowReader: false });
    expect(seen).toEqual(['second', 'first', 'second']);
  });
});
