import type { StepTimeModel } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { hasQueueRoom, missesSlo, predictTtftUs } from './admission';
import { isPrefilledOnDecode } from './disaggregation';
import { engineView, idleEngines, placementContext } from '../test/test-context';
import { estimateTtftUs, prefillUs } from './ttft-estimate';

const engines = [
  engineView({ engineId: 'a', waitingTokens: 3_000 }),
  engineView({ engineId: 'b', waitingTokens: 20_000 }),
];

describe('estimateTtftUs', () => {
  it('is the time of the queue and of what the cache does not hold', () => {
    const context = placementContext({ engines, cached: { b: 800 } });
    expect(estimateTtftUs(context, engines[0]!)).toBe(3_000 + 1_000);
    expect(estimateTtftUs(context, engines[1]!)).toBe(20_000 + 200);
  });

  it('computes at least the last token', () => {
    const context = placementContext({ engines: idleEngines(1), cached: { 'engine-0': 1_000 } });
    expect(estimateTtftUs(context, context.engines[0]!)).toBe(1);
  });

  it('times a queue in full steps, so attention does not grow with its length', () => {
    const quadratic = {
      ...placementContext({ engines }),
      prefillUs: (_engine: unknown, tokens: number) => tokens ** 2,
    };
    expect(estimateTtftUs(quadratic, engines[1]!)).toBe(20_000 * 8_192 + 1_000 ** 2);
  });
});

describe('prefillUs', () => {
  it('adds up the steps of the chunks, each behind those before it', () => {
    const steps: number[][] = [];
    const model: StepTimeModel = {
      description: 'notes what it is asked',
      stepUs: (batch) => {
        steps.push([batch.prefillContext, batch.prefillTokens, batch.prefillQuadratic]);
        return 10;
      },
    };
    expect(prefillUs(model, { tokens: 250, cached: 64 }, 100)).toBe(30);
    expect(steps).toEqual([
      [64, 100, 164 ** 2 - 64 ** 2],
      [164, 100, 264 ** 2 - 164 ** 2],
      [264, 50, 314 ** 2 - 264 ** 2],
    ]);
  });
});

describe('predictTtftUs', () => {
  it('is the best estimate, with a shared queue spread over the engines', () => {
    const context = placementContext({ engines });
    expect(predictTtftUs(context, 0)).toBe(4_000);
    expect(predictTtftUs(context, 5_000)).toBe(6_500);
  });
});

describe('missesSlo', () => {
  it('refuses what comes after the SLO, not what comes with it', () => {
    expect(missesSlo(2_001, 2_000)).toBe(true);
    expect(missesSlo(2_000, 2_000)).toBe(false);
    expect(missesSlo(1e12, Infinity)).toBe(false);
  });
});

describe('hasQueueRoom', () => {
  it('lets so many requests wait and no more', () => {
    expect(hasQueueRoom(9, 10)).toBe(true);
    expect(hasQueueRoom(10, 10)).toBe(false);
    expect(hasQueueRoom(1e9, Infinity)).toBe(true);
  });
});

describe('isPrefilledOnDecode', () => {
  it('looks at what is left to compute behind the cache', () => {
    expect(isPrefilledOnDecode(512, 0, 512)).toBe(true);
    expect(isPrefilledOnDecode(513, 0, 512)).toBe(false);
    expect(isPrefilledOnDecode(10_000, 9_600, 512)).toBe(true);
  });

  it('is off at 0', () => {
    expect(isPrefilledOnDecode(1, 1, 0)).toBe(false);
  });
});
