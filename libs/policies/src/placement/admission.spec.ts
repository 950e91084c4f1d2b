import { describe, expect, it } from 'vitest';
import { RandomStream } from '@baton/kernel';
import { hasQueueRoom, predictTtftUs } from './admission';
import { type AdmissionContext, type AdmissionSpec, buildAdmission } from './admission-policy';
import type { PolicyFault } from './guarded';
import { isPrefilledOnDecode } from './disaggregation';
import { engineView, idleEngines, placementContext } from '../../test/test-context';
import { estimateTtftUs } from './ttft-estimate';

const engines = [
  engineView({ engineId: 'a', waitingTokens: 3_000 }),
  engineView({ engineId: 'b', waitingTokens: 20_000 }),
];

describe('estimateTtftUs', () => {
  it('is the time of the queue and of the uncached tokens', () => {
    const context = placementContext({ engines, cached: { b: 800 } });
    expect(estimateTtftUs(context, engines[0]!)).toBe(3_000 + 1_000);
    expect(estimateTtftUs(context, engines[1]!)).toBe(20_000 + 200);
  });

  it('computes at least the last token', () => {
    const context = placementContext({ engines: idleEngines(1), cached: { 'engine-0': 1_000 } });
    expect(estimateTtftUs(context, context.engines[0]!)).toBe(1);
  });

  it('fetches the longest prefix of a KV pool when that is faster', () => {
    const poolWith = (fetchUsPerToken: number, balancingThreshold = 1) => ({
      longestTokens: () => 800,
      fetchUs: (_engine: unknown, tokens: number) => tokens * fetchUsPerToken,
      balancingThreshold,
    });
    const cached = { b: 200 };
    const ttftUs = (pool: ReturnType<typeof poolWith>, at: number): number =>
      estimateTtftUs(placementContext({ engines, cached, pool }), engines[at]!);
    expect(ttftUs(poolWith(0.5), 0)).toBe(3_000 + 400 + 200);
    expect(ttftUs(poolWith(0.5), 1)).toBe(20_000 + 300 + 200);
    expect(ttftUs(poolWith(1.5), 0)).toBe(3_000 + 1_000);
    expect(ttftUs(poolWith(0.5, 4.1), 1)).toBe(20_000 + 800);
  });

  it('times a queue in full steps, so attention does not grow with its length', () => {
    const quadratic = {
      ...placementContext({ engines }),
      prefillUs: (_engine: unknown, tokens: number) => tokens ** 2,
    };
    expect(estimateTtftUs(quadratic, engines[1]!)).toBe(20_000 * 8_192 + 1_000 ** 2);
  });
});

describe('predictTtftUs', () => {
  it('is the best estimate, with a shared queue spread over the engines', () => {
    const context = placementContext({ engines });
    expect(predictTtftUs(context, 0)).toBe(4_000);
    expect(predictTtftUs(context, 5_000)).toBe(6_500);
  });
});

describe('an admission policy', () => {
  const faults: PolicyFault[] = [];

  function verdict(spec: AdmissionSpec, predictedUs: number, facts?: Partial<AdmissionContext>) {
    const context: AdmissionContext = {
      ...placementContext({ engines }),
      ...facts,
      waitingRequests: 3,
      predictedTtftUs: () => predictedUs,
    };
    const watch = { onFault: (fault: PolicyFault) => faults.push(fault) };
    const policy = buildAdmission(spec, RandomStream.root(1), watch)(context);
    return policy.admit(context) || policy.retryAfterUs?.(context);
  }

  const own = (admit: (context: AdmissionContext) => boolean) =>
    ({ kind: 'own', path: 'a.mjs', module: { create: () => ({ admit }) } }) as const;

  it('of an SLO refuses requests above the target, not at it', () => {
    const slo = { kind: 'slo-ttft', sloUs: 2_000 } as const;
    expect(verdict(slo, 2_000)).toBe(true);
    expect(verdict(slo, 2_300)).toBe(300);
  });

  it('of an SLO uses the target of the class, and counts the time that a request has waited', () => {
    const slo = { kind: 'slo-ttft', sloUs: 2_000 } as const;
    expect(verdict(slo, 2_000, { waitedUs: 1 })).toBe(1);
    expect(verdict(slo, 2_000, { ttftTargetUs: 500 })).toBe(1_500);
    expect(verdict(slo, 9_000, { ttftTargetUs: 10_000, waitedUs: 1_000 })).toBe(true);
  });

  it('by the user decides from the waiting requests, and sends the predicted TTFT to the client', () => {
    const spec = own(({ waitingRequests }) => waitingRequests < 3);
    expect(verdict(spec, 70)).toBe(70);
    expect(
      verdict(
        own(() => true),
        70,
      ),
    ).toBe(true);
  });

  it('falls back to the SLO, or admits all, when it fails', () => {
    const failing = own(() => 1 as unknown as boolean);
    expect(verdict(failing, 9_000)).toBe(true);
    const fallback = { kind: 'slo-ttft', sloUs: 2_000 } as const;
    expect(verdict({ ...failing, fallback }, 9_000)).toBe(9_000);
    expect(faults.map(({ message }) => message)).toEqual(
      Array(2).fill('a.mjs: admit (prefill) returned 1; expected true or false.'),
    );
  });
});

describe('hasQueueRoom', () => {
  it('lets this many requests wait and no more', () => {
    expect(hasQueueRoom(9, 10)).toBe(true);
    expect(hasQueueRoom(10, 10)).toBe(false);
    expect(hasQueueRoom(1e9, Infinity)).toBe(true);
  });
});

describe('isPrefilledOnDecode', () => {
  it('checks the tokens left to compute after the cache', () => {
    expect(isPrefilledOnDecode(512, 0, 512)).toBe(true);
    expect(isPrefilledOnDecode(513, 0, 512)).toBe(false);
    expect(isPrefilledOnDecode(10_000, 9_600, 512)).toBe(true);
  });

  it('is off at 0', () => {
    expect(isPrefilledOnDecode(1, 1, 0)).toBe(false);
  });
});
