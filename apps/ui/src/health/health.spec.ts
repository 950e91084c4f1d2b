import { ERRORS, type PictureEngine } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { ClusterModel } from '../cluster-model';
import { Health } from './health';
import { refusalTexts } from './refusals';

type Role = PictureEngine['role'];

interface State {
  readonly engines: readonly PictureEngine[];
  readonly inFlight?: number;
  readonly lateShare?: number;
  readonly misfits?: number;
  readonly apiStarvedMs?: number;
  /** Requests per second by error code. */
  readonly refused?: Readonly<Record<string, number>>;
  readonly queued?: Partial<Record<Role, number>>;
}

/** Answers of the live page and of the administration. */
const NOT_OF_REQUESTS = new Set(['too_many_viewers', 'engine_silent', 'supervisor_silent']);

function engine(id: string, more: Partial<PictureEngine> = {}): PictureEngine {
  const role = ({ P: 'prefill', D: 'decode', A: 'aggregated' } as const)[id[0] as 'P'];
  return {
    id,
    name: id,
    role,
    state: 'ready',
    running: 0,
    waiting: 0,
    fetching: 0,
    kvUsage: 0.5,
    heldBlocks: 0,
    numBlocks: 10,
    stepMs: 0,
    steps: 0,
    ...more,
  };
}

/** Shows the same state four times a second until `untilMs`. */
function watch(health: Health, state: State, fromMs: number, untilMs: number): void {
  const { engines, inFlight = 0, refused = {}, lateShare, queued } = state;
  const { misfits, apiStarvedMs } = state;
  const model = new ClusterModel();
  model.begin({
    api: 'a',
    version: '0',
    model: 'm',
    topology: '1P2D',
    speedup: 1,
    intervalMs: 250,
    hasSettings: false,
    names: [],
  });
  const parts = Object.entries(refused).map(([code, perSecond]) => ({ code, perSecond }));
  const refusals = {
    refusals: parts,
    refusedPerSecond: parts.reduce((sum, { perSecond }) => sum + perSecond, 0),
  };
  const rates = { ttftMs: null, itlMs: null, tokensPerSecond: 0, requestsPerSecond: 0 };
  for (let at = fromMs; at <= untilMs; at += 250) {
    model.update({
      at,
      engines,
      phases: [0, 0, 0, inFlight],
      requests: [],
      ended: [],
      names: [],
      stepTimes: [],
      waiting: { prefill: 0, decode: 0, aggregated: 0, ...queued },
      rates: {
        ...rates,
        finishedPerSecond: 0,
        ...refusals,
        ...(lateShare === undefined ? {} : { lateShare, lateFigures: ['itl p50' as const] }),
        ...(misfits === undefined ? {} : { misfitsPerSecond: misfits }),
        ...(apiStarvedMs === undefined ? {} : { apiStarvedMs }),
      },
    });
    health.update(model);
  }
}

function idsAfter(state: State, ms = 10_000): string[] {
  const health = new Health();
  watch(health, state, 0, ms);
  return health.findings.map(({ id }) => id);
}

const PAIR = [engine('P0'), engine('D0')];

describe('the health of a cluster', () => {
  it('is idle without requests, and healthy while none waits', () => {
    expect(idsAfter({ engines: PAIR })).toEqual(['idle']);
    expect(idsAfter({ engines: PAIR, inFlight: 9 })).toEqual(['healthy']);
  });

  it.each([
    ['prefill', [engine('P0', { waiting: 9 }), engine('D0')], {}],
    ['prefill', PAIR, { prefill: 9 }],
    ['link', [engine('P0'), engine('D0', { waiting: 9, fetching: 8 })], {}],
    ['decode', [engine('P0'), engine('D0', { waiting: 9 })], {}],
    ['decode', PAIR, { decode: 9 }],
    ['aggregated', [engine('A0', { waiting: 9 })], {}],
  ] as const)('names %s as the bottleneck where requests wait for it', (id, engines, queued) => {
    expect(idsAfter({ engines, queued, inFlight: 20 })).toEqual([id]);
  });

  it('says that the machine is too slow, for 5 s after tokens that came late', () => {
    const health = new Health();
    const slow = { engines: PAIR, inFlight: 9, lateShare: 0.38 };
    watch(health, slow, 0, 1_000);
    expect(health.findings).toMatchObject([
      { id: 'starved', level: 'bad', detail: '38 % of the tokens came late.', sinceMs: 0 },
    ]);
    watch(health, { engines: PAIR, inFlight: 9 }, 1_250, 6_000);
    expect(health.findings.map(({ id }) => id)).toEqual(['starved']);
    watch(health, { engines: PAIR, inFlight: 9 }, 6_250, 6_500);
    expect(health.findings.map(({ id }) => id)).toEqual(['healthy']);
    const starved = [engine('P0', { starvedMs: 900 }), engine('D0')];
    watch(health, { ...slow, engines: starved }, 7_000, 7_000);
    expect(health.findings[0]!.detail).toBe(
      '38 % of the tokens came late. 1 engine gets too little CPU time.',
    );
  });

  it('says that the API gets too little CPU time', () => {
    const health = new Health();
    watch(health, { engines: PAIR, inFlight: 9, apiStarvedMs: 900 }, 0, 0);
    const detail = 'The API gets too little CPU time.';
    expect(health.findings).toMatchObject([{ id: 'starved', level: 'bad', detail }]);
  });

  it('reports decode as the bottleneck when prefill waits for fetches of its held KV', () => {
    const held = [engine('P0', { waiting: 40, heldBlocks: 8 }), engine('D0', { waiting: 9 })];
    expect(idsAfter({ engines: held, inFlight: 60 })).toEqual(['decode']);
    const free = [engine('P0', { waiting: 40 }), engine('D0', { waiting: 9 })];
    expect(idsAfter({ engines: free, inFlight: 60 })).toEqual(['prefill']);
  });

  it('reports no bottleneck for a short burst, and the start of a lasting one', () => {
    const health = new Health();
    const short = { engines: PAIR, inFlight: 5, queued: { prefill: 4 } };
    watch(health, { engines: PAIR, inFlight: 5 }, 0, 1_000);
    watch(health, short, 1_250, 1_500);
    expect(health.findings[0]!.id).toBe('healthy');
    watch(health, short, 1_750, 9_000);
    const [{ id, sinceMs } = { id: '', sinceMs: 0 }] = health.findings;
    expect(id).toBe('prefill');
    expect(sinceMs).toBeGreaterThan(1_500);
    expect(sinceMs).toBeLessThan(4_000);
    watch(health, { engines: PAIR, inFlight: 5 }, 9_250, 15_000);
    expect(health.findings[0]).toMatchObject({ id: 'healthy' });
  });

  it('reports a lost engine until another of its role has joined', () => {
    const health = new Health();
    watch(health, { engines: [engine('P0'), engine('D0'), engine('D1')] }, 0, 500);
    watch(health, { engines: [engine('P0'), engine('D0')] }, 750, 3_000);
    expect(health.findings).toMatchObject([
      { id: 'lost', level: 'bad', title: 'Engine D1 is lost', sinceMs: 750 },
    ]);
    const again = { engines: [engine('P0'), engine('D0'), engine('D2')] };
    watch(health, again, 3_250, 4_000);
    expect(health.findings).toMatchObject([
      { id: 'replaced', level: 'busy', title: 'Engine D1 is gone', sinceMs: 750 },
    ]);
    watch(health, again, 4_250, 31_000);
    expect(health.findings.map(({ id }) => id)).toEqual(['idle']);
  });

  it('names several lost engines, before a bottleneck', () => {
    const health = new Health();
    watch(health, { engines: [engine('P0'), engine('D0'), engine('D1')] }, 0, 500);
    watch(health, { engines: [engine('P0')] }, 750, 3_000);
    expect(health.findings[0]).toMatchObject({
      level: 'bad',
      title: 'Engines D0, D1 are lost',
      detail: 'Their roles have fewer engines.',
    });
  });

  it('reports no loss of an engine that the reader has removed', () => {
    const health = new Health();
    watch(health, { engines: [...PAIR, engine('D1')] }, 0, 500);
    health.expectLeave('D1');
    watch(health, { engines: PAIR }, 750, 1_000);
    expect(health.findings.map(({ id }) => id)).toEqual(['idle']);
  });

  it('reports no loss of an engine that has drained', () => {
    const health = new Health();
    watch(health, { engines: [...PAIR, engine('D1', { state: 'draining' })] }, 0, 500);
    watch(health, { engines: PAIR }, 750, 1_000);
    expect(health.findings.map(({ id }) => id)).toEqual(['idle']);
  });

  it('reports no loss in a recorded run, whose engines leave only by order', () => {
    const health = new Health(true);
    watch(health, { engines: [...PAIR, engine('D1')] }, 0, 500);
    watch(health, { engines: PAIR }, 750, 1_000);
    expect(health.findings.map(({ id }) => id)).toEqual(['idle']);
  });

  it('distinguishes requests that fit no engine from refusals by admission', () => {
    const health = new Health(true);
    watch(health, { engines: PAIR, misfits: 2 }, 0, 500);
    expect(health.findings).toMatchObject([
      { id: 'misfits', level: 'bad', title: 'Requests fit no engine' },
    ]);
    expect(health.findings[0]!.detail).toMatch(/^2 requests\/s get status 400: /);
  });

  it('names the place where an injected fault is removed', () => {
    const refusals = [{ code: 'injected_fault', perSecond: 1 }];
    const { advice } = refusalTexts({ refusedPerSecond: 1, refusals });
    expect(advice).toBe('Remove the fault in the panel Settings, or set the option faults to [].');
  });

  it('reports refusals for five seconds after the last one', () => {
    const health = new Health();
    watch(health, { engines: PAIR, refused: { queue_full: 3 } }, 0, 500);
    watch(health, { engines: PAIR }, 750, 4_000);
    expect(health.findings[0]).toMatchObject({ id: 'admission', level: 'bad', sinceMs: 0 });
    expect(health.findings[0]!.title).toContain('the queue of waiting requests is full');
    watch(health, { engines: PAIR }, 4_250, 6_000);
    expect(health.findings[0]!.id).toBe('idle');
  });

  it('says which limits refuse requests, and which options change them', () => {
    const health = new Health();
    watch(health, { engines: PAIR, refused: { flow_timeout: 2, token_rate_exceeded: 1 } }, 0, 500);
    expect(health.findings[0]).toMatchObject({
      title: 'Admission refuses requests: they wait too long for their turn in flow control',
      detail:
        '3 requests/s get status 429 or 503: they wait too long for their turn in flow control ' +
        '(2/s); a tenant exceeds its tokens per minute (1/s).',
      advice: expect.stringMatching(/flow_control_timeout.* limit_tokens_per_minute/) as string,
    });
  });

  it('has a reason in words for every refusal with status 429 or 503', () => {
    const refused = Object.entries(ERRORS).filter(([code, { status }]) => {
      return [429, 503].includes(status) && !NOT_OF_REQUESTS.has(code);
    });
    for (const [code] of [...refused, ['injected_fault']] as const) {
      const { title } = refusalTexts({
        refusedPerSecond: 1,
        refusals: [{ code, perSecond: 1 }],
      });
      expect(title).not.toContain(code);
    }
  });
});
