import type { Summary } from '@baton/analysis';
import { defaultConfig } from '@baton/config';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EXIT_CODES } from '../exit-codes';
import { readReplayFlags } from '../replay/replay-flags';
import { comparisonText } from './comparison-output';
import type { PolicyMetrics } from './live-metrics';
import { liveExitCode, livePolicies, type LiveTestParts } from './live-policies';
import { KINDS_OF_POLICIES, type PolicyKindName } from './policy-kinds';
import type { PolicyOutcome, PolicyTrial } from './policy-outcome';

const LOAD = { dataset: 'random', numPrompts: '4', requestRate: '10', topology: '1P1D' };
const TRIALS = ['one', 'two', 'three'].map((name) => {
  const prepared = { config: defaultConfig(), scenario: { pools: [] } };
  return { choice: { name, options: {} }, prepared } as never;
}) as PolicyTrial[];
const LATE = 'the load was late';

interface Run {
  readonly void?: string;
  readonly wasInterrupted?: boolean;
}

const METRICS: PolicyMetrics = {
  policyFaults: 0,
  prefixHitRate: 0.5,
  imbalance: 1.25,
  decisions: [
    { kind: 'placement', stage: 'prefill', count: 30, seconds: 0.01 },
    { kind: 'placement', stage: 'decode', count: 10, seconds: 0.01 },
    { kind: 'admission', stage: 'prefill', count: 7, seconds: 1 },
  ],
  engines: new Map(),
  engineSeconds: new Map(),
};

let said = '';
afterEach(() => vi.restoreAllMocks());

/** A live test of three policies whose loads end like this. */
async function tested(...runs: Run[]) {
  return testedAs('placement', ...runs);
}

async function testedAs(kind: PolicyKindName, ...runs: Run[]) {
  said = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => (said += String(text)) !== '');
  const parts: LiveTestParts = {
    clusterOf: () => ({
      readyUnless: () => Promise.resolve('http://127.0.0.1:1'),
      stop: () => Promise.resolve(),
    }),
    bench: () => {
      const { void: reason = null, wasInterrupted = false } = runs.shift() ?? {};
      const figures = {
        duration: 1,
        mean_ttft_ms: 1,
        p99_ttft_ms: 2,
        mean_tpot_ms: 3,
        completed: 4,
      };
      const state = { was_interrupted: wasInterrupted, load_generator: { void: reason } };
      return Promise.resolve({ exitCode: 0, document: { ...figures, ...state } });
    },
    metricsAt: () => Promise.resolve(METRICS),
  };
  const asked = { flags: readReplayFlags(LOAD), given: LOAD };
  const { live: decisions } = KINDS_OF_POLICIES[kind];
  const figures = await livePolicies(TRIALS, { ...asked, decisions }, parts);
  return { figures, exitCode: liveExitCode(TRIALS, figures) };
}

describe('baton policy test --live', () => {
  it('ends with 0 when every row is valid', async () => {
    const { figures, exitCode } = await tested();
    expect([figures.length, exitCode]).toEqual([3, EXIT_CODES.done]);
    expect(said).not.toContain('void');
  });

  it.each([
    ['placement', 2_000],
    ['decode-placement', 1_000],
    ['admission', 7],
    ['scheduling', null],
  ] as const)('gives the decisions per second of %s that the router made', async (kind, rate) => {
    const { figures } = await testedAs(kind);
    expect(figures.map((each) => each.decisions_per_second)).toEqual([rate, rate, rate]);
  });

  it('names a void row, and ends with the exit code of a void bench', async () => {
    const { figures, exitCode } = await tested({}, { void: LATE });
    expect(figures.map((each) => each.void)).toEqual([null, LATE, null]);
    expect(exitCode).toBe(EXIT_CODES.void);
    expect(said).toContain(`the live figures of two are void: ${LATE}`);
  });

  it('names the policies without figures after Ctrl-C, and ends like a stopped bench', async () => {
    const { figures, exitCode } = await tested({}, { wasInterrupted: true });
    expect([figures.length, exitCode]).toEqual([1, EXIT_CODES.incomplete]);
    expect(said).toContain('interrupted: no live figures of two, three');
  });

  it('stops its cluster at a second Ctrl-C while the load still ends', async () => {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const stop = vi.fn(() => Promise.resolve());
    const bench: LiveTestParts['bench'] = () => {
      process.emit('SIGHUP');
      nowMs += 1_000;
      process.emit('SIGHUP');
      expect(stop).toHaveBeenCalledTimes(1);
      return Promise.resolve({ exitCode: 0, document: { was_interrupted: true } });
    };
    const readyUnless = (): Promise<string> => Promise.resolve('http://127.0.0.1:1');
    const clusterOf: LiveTestParts['clusterOf'] = () => ({ readyUnless, stop });
    const metricsAt = (): Promise<PolicyMetrics> => Promise.resolve(METRICS);
    const asked = { flags: readReplayFlags(LOAD), given: LOAD };
    const figures = await livePolicies(TRIALS, asked, { clusterOf, bench, metricsAt });
    expect(figures).toEqual([]);
  });

  it('marks a void row in the table and in the plot', async () => {
    const { figures } = await tested({}, { void: LATE });
    const summary = { ttft_ms: {}, tpot_ms: {}, engines: [] } as unknown as Summary;
    const outcomes = figures.map((live, at): PolicyOutcome => {
      const { name: policy } = TRIALS[at]!.choice;
      return { policy, summary, faults: 0, wallSeconds: 1, decisionsPerSecond: null, live };
    });
    const text = await comparisonText(KINDS_OF_POLICIES.placement, outcomes);
    expect(text.match(/^\w+ \(VOID\)/gm)).toEqual(['two (VOID)', 'two (VOID)']);
    expect(text.match(/VOID/g)).toHaveLength(2);
    expect(text).toMatch(/^Every row: TTFT mean 1 ms, .* hits 50 %, imbalance 1\.25,$/m);
    expect(text).toMatch(/GPU-hours 0, faults 0, decisions\/s 2,000\.$/m);
  });
});
