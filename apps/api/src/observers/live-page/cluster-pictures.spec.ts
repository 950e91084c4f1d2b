import { defaultConfig } from '@baton/config';
import { BatonError, type EngineJob, type EnginePresence } from '@baton/contract';
import type { Transport } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import type { ClusterView } from '../../cluster/cluster-view';
import type { Sequence, SequenceOwner } from '../../sequences/sequence';
import { SequenceTable } from '../../sequences/sequence-table';
import type { AdmissionGate } from '../../request/admit/admission-gate';
import { Observers } from '../port/observers';
import type { ObservedCall, ObservedRequest, TokenNews } from '../port/port';
import { ApiProcesses } from '../../processes/api-processes';
import type { Timelines } from '../timelines/timelines';
import { ClusterPictures, picturePhaseOf } from './cluster-pictures';
import { RateMeter } from './rate-meter';
import { pictureRatesOf } from './rates';
import { pictureStepTimes } from './step-times';

const OWNER = {} as SequenceOwner;
const ON_TIME = { processClock: { latenessMs: () => 0 } } as unknown as Transport;

function jobOf(streamId: number): EngineJob {
  const arrivalUs = Math.round((performance.timeOrigin + 1_000) * 1_000);
  const job = { requestId: `r${streamId}`, streamId, arrivalUs, flow: 'route', submission: 1 };
  return { ...job, promptTokens: 10, maxTokens: 5 } as unknown as EngineJob;
}

function open(table: SequenceTable, change: Partial<Sequence> = {}): Sequence {
  const job = jobOf(table.nextIds(1)[0]!);
  const sequence = table.open(OWNER, { index: 0, nowMs: 0, job });
  return Object.assign(sequence, change);
}

function picturesOf(table: SequenceTable, engines: readonly string[] = []): ClusterPictures {
  const gauges = { running: 1, waitingCapacity: 2, waitingDeferred: 3, kvUsage: 0.123456 };
  const living = engines.map((engineId, index) => ({
    engineId,
    index,
    name: `D${index}`,
    stage: 'decode',
    state: 'ready',
    counters: { steps: 9 },
    gauges: { ...gauges, heldBlocks: 4, numBlocks: 10, clockLagMs: 0, stepMs: 1.23456 },
  })) as unknown as EnginePresence[];
  const waiting = { prefill: 1, decode: 2, aggregated: 3 };
  return new ClusterPictures(
    defaultConfig(),
    { living: () => living } as unknown as ClusterView,
    table,
    { waiting: () => waiting } as unknown as AdmissionGate,
    new RateMeter(defaultConfig(), ON_TIME),
    { takenBy: () => undefined } as unknown as Timelines,
    ApiProcesses.none(),
  );
}

describe('the step times of a picture', () => {
  it('have one entry per model, with the number of steps outside of the measured range', () => {
    const engine = (stage: string, method: string, steps: number, far: number): EnginePresence =>
      ({
        stage,
        stepTimes: { method, description: `as ${method}` },
        counters: { steps_outside_range: steps, steps_of_unmeasured_shape: steps },
        gauges: { farthestOutside: far },
      }) as unknown as EnginePresence;
    const living = [
      engine('prefill', 'composed', 2, 1.5),
      engine('decode', 'composed', 1, 3),
      engine('decode', 'calibrated', 0, 1),
    ];
    expect(pictureStepTimes(living)).toEqual([
      {
        method: 'composed',
        description: 'as composed',
        roles: ['prefill', 'decode'],
        outsideSteps: 3,
        unmeasuredSteps: 3,
        farthestOutside: 3,
      },
      {
        method: 'calibrated',
        description: 'as calibrated',
        roles: ['decode'],
        outsideSteps: 0,
        unmeasuredSteps: 0,
        farthestOutside: 1,
      },
    ]);
  });

  it('are empty for engines that simulate no steps, and have no count without a range', () => {
    const given = { stage: 'decode', stepTimes: { method: 'given', description: 'constant' } };
    const living = [
      { stage: 'decode', counters: {}, gauges: {} },
      { ...given, counters: {}, gauges: {} },
    ] as unknown as EnginePresence[];
    expect(pictureStepTimes(living)).toEqual([
      {
        ...given.stepTimes,
        roles: ['decode'],
        outsideSteps: null,
        unmeasuredSteps: 0,
        farthestOutside: 1,
      },
    ]);
  });
});

describe('a picture', () => {
  it('counts all requests and shows a limited number', () => {
    const table = new SequenceTable();
    for (let i = 0; i < 5_000; i += 1) open(table, { waitingIn: 'prefill' });
    const pictures = picturesOf(table);
    const first = pictures.take(0);
    expect(first.phases).toEqual([5_000, 0, 0, 0]);
    expect([first.requests.length, first.names.length]).toEqual([4 * 4_096, 4_096]);
    expect(pictures.take(250).names).toEqual([]);
    expect(pictures.names().length).toBe(4_096);
  });

  it('names a request again when its key is reused', () => {
    const table = new SequenceTable(1);
    const pictures = picturesOf(table);
    const before = open(table);
    expect(pictures.take(0).names.map(([key]) => key)).toEqual([before.streamId]);
    table.release(before);
    pictures.take(250);
    const after = open(table);
    expect(pictures.take(500).names.map(([key]) => key)).toEqual([after.streamId]);
  });

  it('has the final tokens of a request that has ended since the last one', () => {
    const table = new SequenceTable();
    const pictures = picturesOf(table);
    const sequence = open(table, { received: 195 });
    expect(pictures.take(0).ended).toEqual([]);
    sequence.received = 200;
    table.release(sequence);
    expect(pictures.take(250).ended).toEqual([sequence.streamId, 200]);
    expect(pictures.take(500).ended).toEqual([]);
  });

  it('is small at 64 engines and 2,000 requests', () => {
    const table = new SequenceTable();
    const ids = Array.from({ length: 64 }, (_none, i) => `0f3a9c77-1111-2222-3333-${i + 1e11}`);
    for (let i = 0; i < 2_000; i += 1) open(table, { engineId: ids[i % 64]!, received: i });
    const pictures = picturesOf(table, ids);
    pictures.take(0);
    expect(JSON.stringify(pictures.take(250)).length).toBeLessThan(64 * 1024);
  });

  it('has the engine fields that a lane shows', () => {
    const [engine] = picturesOf(new SequenceTable(), ['e']).take(0).engines;
    expect(engine).toEqual({
      id: 'e',
      name: 'D0',
      role: 'decode',
      state: 'ready',
      running: 1,
      waiting: 5,
      fetching: 3,
      kvUsage: 0.1235,
      heldBlocks: 4,
      numBlocks: 10,
      stepMs: 1.235,
      steps: 9,
    });
  });

  it.each([
    ['waits for prefill', 'prefill', 0, undefined, 0],
    ['was taken by a prefill engine', 'prefill', 0, 'prefill', 1],
    ['was taken by an aggregated engine', 'aggregated', 0, 'aggregated', 1],
    ['is computed', undefined, 0, 'prefill', 1],
    ['was handed over', 'decode', 0, 'prefill', 2],
    ['came with KV from outside', 'decode', 0, undefined, 2],
    ['has begun to decode', undefined, 0, 'decode', 3],
    ['generates on an aggregated engine', undefined, 3, 'aggregated', 3],
  ] as const)('puts a request that %s where it is', (_name, waitingIn, received, stage, phase) => {
    expect(picturePhaseOf({ waitingIn, received }, stage)).toBe(phase);
  });
});

/** News of tokens as the frame inbox gives them; these came at `nowMs`. */
function tell(meter: RateMeter, sequence: Sequence, news: Partial<TokenNews>): void {
  const header = { engineId: 'e', stage: 'decode', stepEndUs: 0 } as const;
  const stampedUs = (performance.timeOrigin + (news.nowMs ?? 0)) * 1_000;
  const none = { from: 0, count: 1, nowMs: 0, previousMs: 0, stampedUs, header };
  const told = { ...none, ...news };
  if (told.from === 0) sequence.history.firstTokenMs = told.nowMs;
  meter.tokens(sequence, told);
}

describe('rates', () => {
  it('cover the last second, in simulated time', () => {
    const meter = new RateMeter(defaultConfig({ speedup: 10 }), ON_TIME);
    const sequence = open(new SequenceTable());
    const sequences = [sequence, sequence, sequence];
    meter.switchOn(1_000);
    meter.opened({ sequences } as unknown as ObservedRequest);
    tell(meter, sequence, { from: 0, count: 1, nowMs: 1_020 });
    tell(meter, sequence, { from: 1, count: 4, nowMs: 1_100, previousMs: 1_020 });
    meter.ended();
    const rates = pictureRatesOf([meter.take(1_250)]);
    // Arrived at 1,000 ms; four tokens in 80 ms; a quarter of a second is 2.5 simulated ones.
    expect(rates.ttftMs!.p50).toBeCloseTo(200, 0);
    expect(rates.itlMs!.p99).toBeCloseTo(200, 0);
    expect(rates.tokensPerSecond).toBeCloseTo(5 / 2.5);
    expect(rates.requestsPerSecond).toBeCloseTo(3 / 2.5);
    expect(rates.finishedPerSecond).toBeCloseTo(1 / 2.5);
    for (const nowMs of [1_500, 1_750, 2_000]) meter.take(nowMs);
    expect(pictureRatesOf([meter.take(2_250)])).toMatchObject({
      ttftMs: null,
      itlMs: null,
      tokensPerSecond: 0,
    });
  });

  it('have the share of late tokens when they change a latency', () => {
    const meter = new RateMeter(defaultConfig({ speedup: 10 }), ON_TIME);
    const sequence = open(new SequenceTable());
    const arrive = (count: number, lateMs: number): void => {
      const stampedUs = (performance.timeOrigin + 2_000 - lateMs) * 1_000;
      tell(meter, sequence, { from: 1, count, nowMs: 2_000, previousMs: 1_999, stampedUs });
    };
    meter.switchOn(1_000);
    arrive(198, 9);
    arrive(2, 11);
    expect(pictureRatesOf([meter.take(2_000)])).not.toHaveProperty('lateShare');
    arrive(1, 400);
    expect(pictureRatesOf([meter.take(2_250)]).lateShare).toBeCloseTo(3 / 201);
    for (const nowMs of [2_500, 2_750, 3_000]) meter.take(nowMs);
    const steps = Array.from({ length: 40 }, (_none, step) => 3_000 + 10 * step);
    for (const [i, nowMs] of steps.entries()) {
      // Every fourth step comes 30 ms late, and with it the gap before and after it changes.
      const lateMs = i % 4 === 3 ? 30 : 0;
      const previousMs = nowMs - 10 + (i % 4 === 0 && i > 0 ? 30 : 0);
      const stampedUs = (performance.timeOrigin + nowMs) * 1_000;
      tell(meter, sequence, { from: i + 1, nowMs: nowMs + lateMs, previousMs, stampedUs });
    }
    expect(pictureRatesOf([meter.take(3_400)])).toMatchObject({
      lateShare: 0.25,
      lateFigures: ['itl p99'],
    });
    for (const nowMs of [3_650, 3_900, 4_150]) meter.take(nowMs);
    expect(pictureRatesOf([meter.take(4_400)])).not.toHaveProperty('lateShare');
  });

  it('have the worst pause of the API processes when it is longer than starved_after', () => {
    const pausedFor = (latenessMs: number): RateMeter => {
      const transport = { processClock: { latenessMs: () => latenessMs } } as unknown as Transport;
      return new RateMeter(defaultConfig({ starvedAfter: 0.5 }), transport);
    };
    const parts = [400, 900, 700].map((pauseMs) => pausedFor(pauseMs).take(0));
    expect(pictureRatesOf(parts).apiStarvedMs).toBe(900);
    expect(pictureRatesOf(parts.slice(0, 1))).not.toHaveProperty('apiStarvedMs');
  });

  it('count refusals for lack of capacity, not invalid requests', () => {
    const meter = new RateMeter(defaultConfig(), ON_TIME);
    meter.switchOn(0);
    for (const code of ['admission_refused', 'model_not_found'] as const) {
      meter.refused({} as ObservedCall, new BatonError(code));
    }
    expect(pictureRatesOf([meter.take(1_000)]).refusedPerSecond).toBe(1);
  });

  it('count refusals by their reason, the most frequent first', () => {
    const meter = new RateMeter(defaultConfig(), ON_TIME);
    meter.switchOn(0);
    for (const code of ['queue_full', 'flow_timeout', 'flow_timeout'] as const) {
      meter.refused({} as ObservedCall, new BatonError(code));
    }
    expect(pictureRatesOf([meter.take(1_000)])).toMatchObject({
      refusedPerSecond: 3,
      refusals: [
        { code: 'flow_timeout', perSecond: 2 },
        { code: 'queue_full', perSecond: 1 },
      ],
    });
  });

  it('are counted only while a live page is open', () => {
    const meter = new RateMeter(defaultConfig(), ON_TIME);
    const observers = new Observers([meter]);
    const request = { sequences: [open(new SequenceTable())] } as unknown as ObservedRequest;
    observers.opened(request);
    meter.switchOn(0);
    expect(pictureRatesOf([meter.take(1_000)]).requestsPerSecond).toBe(0);
    observers.refresh();
    observers.opened(request);
    expect(pictureRatesOf([meter.take(2_000)]).requestsPerSecond).toBeCloseTo(1 / 2);
    meter.switchOff();
    observers.refresh();
    observers.opened(request);
    for (const nowMs of [3_000, 4_000, 5_000]) meter.take(nowMs);
    expect(pictureRatesOf([meter.take(6_000)]).requestsPerSecond).toBe(0);
  });
});
