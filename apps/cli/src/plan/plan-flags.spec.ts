import { describe, expect, it } from 'vitest';
import { type PlanFlags, readPlanFlags } from './plan-flags';

const NEEDED = { gpus: '16', slo: 'ttft=2s,tpot=50ms' };

function read(flags: Record<string, string | boolean> = {}): PlanFlags {
  return readPlanFlags({ ...NEEDED, ...flags });
}

describe('the flags of a plan', () => {
  it('have defaults, except GPUs and SLO', () => {
    expect(read()).toMatchObject({
      gpus: 16,
      target: { slo: { ttft: 2e6, tpot: 50e3 }, attainment: 0.9 },
      sizes: { tp: undefined, prefillTp: undefined, decodeTp: undefined },
      mostSimulated: 40,
      json: false,
    });
  });

  it('separate options of the cluster from those of the workload', () => {
    const { config, workload } = read({ model: 'llama-3.1-70b', numPrompts: '5', json: true });
    expect([config, workload]).toEqual([{ model: 'llama-3.1-70b' }, { numPrompts: '5' }]);
  });

  it('accept sizes in any order', () => {
    expect(read({ tp: '8, 2,4,2', decodeTp: '1' }).sizes).toEqual({
      tp: [2, 4, 8],
      prefillTp: undefined,
      decodeTp: [1],
    });
  });

  it.each([
    [{ gpus: '0' }, '--gpus must be an integer from 1 to 1024'],
    [{ attainment: '0' }, '--attainment must be a number above 0, up to 1'],
    [{ attainment: '90 %' }, '--attainment must be a number above 0'],
    [{ tp: '' }, '--tp must be integers from 1 to 64'],
    [{ prefillTp: '2,65' }, '--prefill-tp must be integers from 1 to 64'],
    [{ threads: 'all' }, '--threads must be an integer'],
    [{ slo: 'ttft=2' }, 'needs a unit'],
    [{ topology: '2P2D' }, 'A plan searches for the topology itself'],
    [{ rateScale: '2' }, 'Remove --rate-scale'],
    [{ tp: '2', tensorParallelSize: '2' }, '--tp and --tensor-parallel-size are the same'],
    [
      { decodeTp: '2', decodeTensorParallelSize: '2' },
      '--decode-tp and --decode-tensor-parallel-size are the same',
    ],
  ])('refuse %j in one sentence', (flags: Record<string, string>, sentence) => {
    expect(() => read(flags)).toThrow(sentence);
  });

  it('are refused without GPUs or SLO', () => {
    expect(() => readPlanFlags({ gpus: '4' })).toThrow('--slo ttft=2s,tpot=50ms');
    expect(() => readPlanFlags({ slo: 'ttft=1s' })).toThrow('--gpus 16');
  });
});
