import { defaultConfig } from '@baton/config';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planOneProcess, planProcesses, planWorkers, withEngines } from './cluster-plan';

const names = (specs: readonly { readonly name: string }[]): string[] => specs.map((s) => s.name);

describe('the processes of a cluster', () => {
  it('are one API and one worker per engine where there is a core for each', () => {
    const specs = planProcesses(defaultConfig(), { prefill: 2, decode: 1, aggregated: 0 }, 4);
    expect(names(specs)).toEqual(['api', 'prefill-0', 'prefill-1', 'decode-0']);
    expect(specs.map((spec) => spec.config.role)).toEqual(['api', 'prefill', 'prefill', 'decode']);
  });

  it.each([
    [2, ['api', 'prefill-0', 'decode-0'], [2, 5]],
    [4, ['api', 'prefill-0', 'prefill-1', 'decode-0', 'decode-1'], [1, 1, 3, 2]],
  ])('have at most one worker per core, on %i', (cores, all, sizes) => {
    const specs = planProcesses(defaultConfig(), { prefill: 2, decode: 5, aggregated: 0 }, cores);
    expect(names(specs)).toEqual(all);
    expect(specs.slice(1).map(({ config }) => config.enginesPerProcess)).toEqual(sizes);
  });

  it('number their engines the same way, however they are packed', () => {
    const numbers = [1, 2, 3].map((enginesPerProcess) => {
      const config = defaultConfig({ enginesPerProcess });
      const workers = planProcesses(config, { prefill: 0, decode: 5, aggregated: 0 }).slice(1);
      return workers.flatMap(({ config: { firstEngine = NaN, enginesPerProcess: count = 0 } }) =>
        Array.from({ length: count }, (_none, i) => firstEngine + i),
      );
    });
    expect(numbers).toEqual([1, 2, 3].map(() => [0, 1, 2, 3, 4]));
  });

  it('share workers at more engines per process, and the last takes the rest', () => {
    const config = defaultConfig({ enginesPerProcess: 3 });
    const specs = planProcesses(config, { prefill: 0, decode: 0, aggregated: 7 });
    expect(specs.slice(1).map((spec) => spec.config.enginesPerProcess)).toEqual([3, 3, 1]);
  });

  it('host every engine exactly once, however they are packed', () => {
    const count = fc.nat(20);
    fc.assert(
      fc.property(count, count, fc.integer({ min: 1, max: 9 }), (prefill, decode, perProcess) => {
        const config = defaultConfig({ enginesPerProcess: perProcess });
        const specs = planProcesses(config, { prefill, decode, aggregated: 0 });
        const workers = specs.slice(1);
        const hosted = workers.reduce((sum, spec) => sum + (spec.config.enginesPerProcess ?? 0), 0);
        expect(hosted).toBe(prefill + decode);
        expect(new Set(names(specs)).size).toBe(specs.length);
      }),
      { numRuns: 200 },
    );
  });

  it('are a single one without a broker', () => {
    expect(names(planOneProcess(defaultConfig({ role: 'api' })))).toEqual(['api']);
  });

  it('continue their numbers when engines join', () => {
    const wanted = { stage: 'decode', engines: 3, firstIndex: 4, perProcess: 2 } as const;
    const specs = planWorkers(defaultConfig(), wanted);
    expect(names(specs)).toEqual(['decode-4', 'decode-5']);
  });

  it.each([
    ['1D', 'decode', 'decode'],
    ['2A', 'aggregated', 'decode'],
    ['1P2D', 'prefill', 'prefill'],
  ])('come back as %s when their engines have become that', (engines, role, app) => {
    const [, worker] = planProcesses(defaultConfig(), { prefill: 1, decode: 0, aggregated: 0 });
    const next = worker && withEngines(worker, engines);
    expect(next).toMatchObject({ name: 'prefill-0', config: { role, workerEngines: engines } });
    expect(next?.entry).toContain(`${app}/src/main`);
  });

  it('do not restart without engines', () => {
    const [spec] = planOneProcess(defaultConfig());
    expect(spec && withEngines(spec, '')).toBeUndefined();
  });
});
