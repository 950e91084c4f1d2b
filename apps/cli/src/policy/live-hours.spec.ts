import { describe, expect, it } from 'vitest';
import { gpuHours } from './live-hours';
import type { PolicyMetrics } from './live-metrics';

const SCENARIO = {
  pools: [
    { role: 'prefill', gpus: 2 },
    { role: 'decode', gpus: 1 },
  ],
} as unknown as Parameters<typeof gpuHours>[0];

function scrape(
  engines: Readonly<Record<string, number>>,
  engineSeconds: Readonly<Record<string, number>>,
): PolicyMetrics {
  return {
    engines: new Map(Object.entries(engines)),
    engineSeconds: new Map(Object.entries(engineSeconds)),
  } as unknown as PolicyMetrics;
}

describe('the GPU-hours of a live test', () => {
  it('are engines × GPUs × time of the load, in simulated time', () => {
    const before = scrape({ prefill: 1, decode: 2 }, { prefill: 5, decode: 10 });
    // 2 s of preparation and 360 s of load.
    const after = scrape({ prefill: 1, decode: 2 }, { prefill: 367, decode: 734 });
    const times = { betweenSeconds: 362, loadSeconds: 360, speedup: 1 };
    expect(gpuHours(SCENARIO, [before, after], times)).toBe(0.4);
    expect(gpuHours(SCENARIO, [before, after], { ...times, speedup: 10 })).toBe(4);
  });

  it('count an engine that joins during the load from then on', () => {
    const before = scrape({ prefill: 1, decode: 1 }, { prefill: 5, decode: 5 });
    const after = scrape({ prefill: 1, decode: 2 }, { prefill: 367, decode: 547 });
    const times = { betweenSeconds: 362, loadSeconds: 360, speedup: 1 };
    expect(gpuHours(SCENARIO, [before, after], times)).toBe(0.35);
  });
});
