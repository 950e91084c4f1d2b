import { simulate } from '../driver';
import { type BatonConfig, defaultConfig, UsageError } from '@baton/config';
import { WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { scenarioOf } from './scenario-of';

function workloadOf(requests: number, gapUs: number) {
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (let i = 0; i < requests; i += 1) {
    builder.add({ arrivalUs: i * gapUs, promptTokens: 512, outputTokens: 50 });
  }
  return builder.build();
}

function scenario(overrides: Partial<BatonConfig>, requests = 40, gapUs = 30_000) {
  const config = defaultConfig({
    topology: '2A',
    model: 'llama-3.1-8b',
    gpu: 'h100',
    pipelineParallelSize: 2,
    stepTime: 'roofline',
    ...overrides,
  });
  return scenarioOf(config, workloadOf(requests, gapUs));
}

describe('engines with pipeline stages on the virtual clock', () => {
  it('take tensor times pipeline parallel GPUs each', () => {
    const run = simulate(scenario({ tensorParallelSize: 2 }));
    expect(run.engines.map(({ gpus }) => gpus)).toEqual([4, 4]);
  });

  it('lose no request when KV is short', () => {
    const { log, engines } = simulate(scenario({ numGpuBlocksOverride: 200 }, 200, 1_000));
    expect(engines.reduce((sum, { finished }) => sum + finished, 0)).toBe(200);
    expect(log.outputTokens.every((tokens) => tokens === 50)).toBe(true);
  });

  it('have token gaps that add up to the time of a request', () => {
    const { itl, log } = simulate(scenario({}));
    const gaps = 40 * 49;
    expect(itl.count).toBe(gaps);
    let span = 0;
    for (let row = 0; row < 40; row++) span += log.finishUs.at(row) - log.firstTokenUs.at(row);
    expect(itl.sumUs).toBe(span);
  });

  it('draft, and load KV from host memory', () => {
    const drafting = simulate(scenario({ numSpeculativeTokens: 3, speculativeAcceptanceRate: 1 }));
    const plain = simulate(scenario({}));
    expect(drafting.log.outputTokens.every((tokens) => tokens === 50)).toBe(true);
    expect(drafting.steps).toBeLessThan(0.75 * plain.steps);
    const host = simulate(
      scenario({ kvOffloadingSize: 10, numGpuBlocksOverride: 200 }, 200, 1_000),
    );
    expect(host.engines.reduce((sum, { finished }) => sum + finished, 0)).toBe(200);
  });

  it('step together when they are ranks of a mixture of experts', () => {
    const { pools } = scenario({
      topology: '1A',
      model: 'mixtral-8x7b',
      tensorParallelSize: 2,
      dataParallelSize: 2,
    });
    expect(pools[0]!.dataParallel).toEqual({ size: 2, isLockstep: true });
  });

  it('refuse hand-over, with a reason', () => {
    const refused = (overrides: Partial<BatonConfig>) => () => scenario(overrides);
    expect(refused({ topology: '1P1D' })).toThrow(UsageError);
    expect(refused({ topology: '1P1D' })).toThrow('use aggregated engines');
    expect(refused({ stepTime: 'calibrated' })).toThrow('pipeline_parallel_size to 1');
    expect(refused({ pipelineParallelSize: 33 })).toThrow('32 layers');
  });
});
