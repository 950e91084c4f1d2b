import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { shippedErrors } from '../files/error-files';
import { errorRowFor, formatErrorTable, parseErrorTable, systemClassOf } from './error-table';
import { crossValidate, type ErrorPoint, learnErrors } from './learn-errors';
import { deploymentErrors } from '../files/error-files';
import { modelErrorsAt, type TimedRole } from './model-errors';

/** Groups with a common error factor each, and points that scatter around it. */
function madeUp(groups: number, pointsPerGroup: number, seed = 1): ErrorPoint[] {
  const random = RandomStream.root(seed).stream('errors');
  const normal = (): number => {
    return Math.sqrt(-2 * Math.log(1 - random.unit())) * Math.cos(2 * Math.PI * random.unit());
  };
  return Array.from({ length: groups }).flatMap((_none, i) => {
    const own = 0.2 * normal();
    return Array.from({ length: pointsPerGroup }, (): ErrorPoint => {
      const ratio = Math.exp(own + 0.1 * normal());
      return { group: `g${i}`, system: 'hopper', figure: 'tpot', load: 4, ratio };
    });
  });
}

describe('learned errors', () => {
  it('contain four of five true values of groups outside of the fit', () => {
    const all = crossValidate(madeUp(100, 10)).find(({ name }) => name === 'all')!;
    expect(all.points).toBe(1_000);
    expect(all.held).toBeGreaterThan(0.75);
    expect(all.held).toBeLessThan(0.85);
  });

  it('check no group against itself', () => {
    const strange = { system: 'hopper', figure: 'tpot', load: 4, ratio: 9, group: 'odd' } as const;
    const points = [...madeUp(20, 10), ...Array.from({ length: 200 }, () => strange)];
    const held = new Map(crossValidate(points).map((each) => [each.name, each.held]));
    expect(held.get('odd: tpot')).toBe(0);
  });

  it('are closer within a group than between groups', () => {
    const [row] = learnErrors(madeUp(200, 10));
    expect(row!.high).toBeCloseTo(Math.exp(1.2816 * Math.hypot(0.2, 0.1)), 1);
    expect(row!.apart).toBeCloseTo(Math.exp(1.2816 * 0.1 * Math.SQRT2), 1);
    expect(row!.apart).toBeLessThan(row!.high);
  });

  it('have rows only for classes of systems with enough points', () => {
    const few = madeUp(2, 5).map((point) => ({ ...point, system: 'blackwell' }));
    const rows = learnErrors([...madeUp(10, 10), ...few]);
    expect(rows.map(({ system }) => system)).toEqual(['all', 'hopper']);
    const asked = { system: 'blackwell', figure: 'tpot', load: 4 } as const;
    expect(errorRowFor(rows, asked)!.system).toBe('all');
    const racks = madeUp(4, 3).map((point) => ({ ...point, system: 'rack' }));
    const more = learnErrors([...madeUp(10, 10), ...racks]);
    expect(errorRowFor(more, { ...asked, system: 'rack' })!.points).toBe(12);
  });

  it('round-trip through a file', () => {
    const rows = learnErrors(madeUp(10, 10));
    const text = formatErrorTable(rows, 'made up');
    expect(formatErrorTable(parseErrorTable(text), 'made up')).toBe(text);
  });
});

describe('errors of a deployment', () => {
  const rows = shippedErrors();
  const composed = { role: 'aggregated', method: 'composed', gpu: 'h100' };

  it('are those of its class of systems, and always contain the figure', () => {
    for (const load of [0, 11.9, 12, 95, 1e6]) {
      for (const gpu of ['h100', 'b200', 'mi300x']) {
        const errors = modelErrorsAt([{ ...composed, gpu }], rows)(load);
        for (const { low, high } of [errors.ttft, errors.tpot, errors.e2el]) {
          expect(low).toBeGreaterThan(0);
          expect(low).toBeLessThanOrEqual(1);
          expect(high).toBeGreaterThanOrEqual(1);
          expect(high).toBeLessThan(Infinity);
        }
      }
    }
    const hopper = errorRowFor(rows, { system: 'hopper', figure: 'tpot', load: 20 })!;
    expect(modelErrorsAt([composed], rows)(20).tpot).toEqual({
      low: hopper.low,
      high: hopper.high,
    });
  });

  it('widen from calibrated to composed to estimated, and vanish where times are given', () => {
    const width = (method: string): number => {
      const { low, high } = modelErrorsAt([{ ...composed, method }], rows)(20).tpot;
      return high / low;
    };
    expect(width('given')).toBe(1);
    expect(width('calibrated')).toBeGreaterThan(1);
    expect(width('composed')).toBeGreaterThan(width('calibrated'));
    expect(width('estimated')).toBeCloseTo(1.6 ** 2);
    expect(width('estimated')).toBeGreaterThan(width('composed'));
  });

  it('are those of the role of a figure, and for whole requests of both', () => {
    const roles = [
      { role: 'prefill', method: 'estimated', gpu: 'h100' },
      { role: 'decode', method: 'given', gpu: 'h100' },
    ];
    const errors = modelErrorsAt(roles, rows)(20);
    expect(errors.ttft.high).toBe(1.6);
    expect(errors.tpot).toEqual({ low: 1, high: 1 });
    expect(errors.e2el.high).toBe(1.6);
    expect(errors.source).toBe('step times estimated, ±60 %; taken as given');
  });

  it('are those of the GPU of each role', () => {
    const of = (role: string) => ({
      role,
      method: 'composed',
      description: '',
      steps_outside_range: null,
      steps_of_unmeasured_shape: null,
      farthest_outside: null,
    });
    const gpus = { gpu: 'h100', decodeGpu: 'b200' };
    const errors = deploymentErrors(gpus, [of('prefill'), of('decode')])(20);
    expect(errors.ttft).toEqual(modelErrorsAt([composed], rows)(20).ttft);
    const other = modelErrorsAt([{ ...composed, gpu: 'b200' }], rows)(20);
    expect(errors.tpot).toEqual(other.tpot);
  });

  it('are those of the profile if it has them, per figure, and always contain the figure', () => {
    const of = (heldOut: TimedRole['heldOut']) =>
      modelErrorsAt([{ role: 'aggregated', method: 'calibrated', gpu: 'h100', heldOut }], rows)(20);
    const fixed = of(undefined);
    const decode = { points: 20, low: 0.9, high: 0.97 };
    const own = of({ decode, prefill: { points: 9, low: 0.98, high: 1.3 } });
    expect(own.tpot).toEqual({ low: 0.9, high: 1 });
    expect(own.ttft).toEqual({ low: 0.98, high: 1.3 });
    expect(own.e2el).toEqual({ low: 0.9, high: 1.3 });
    expect(own.source).toContain('errors of steps that its profile was not fitted to');
    const partly = of({ decode });
    expect(partly.tpot).toEqual(own.tpot);
    expect([partly.ttft, partly.e2el]).toEqual([fixed.ttft, fixed.e2el]);
    expect(partly.source).toContain('where its profile has them');
  });

  it('are smaller between two splits than for one', () => {
    const { apart, e2el } = modelErrorsAt([composed], rows)(20);
    const { high } = e2el;
    const apartOf = (method: string): number => {
      return modelErrorsAt([{ ...composed, method }], rows)(20).apart;
    };
    expect(apart).toBeGreaterThan(1);
    expect(apart).toBeLessThan(high);
    expect(apartOf('given')).toBe(1);
    expect(apartOf('estimated')).toBeCloseTo(1.6 ** 0.5);
  });
});

describe('classes of systems', () => {
  it.each([
    ['h100_sxm', 'hopper'],
    ['h200', 'hopper'],
    ['b300_sxm', 'blackwell'],
    ['gb200', 'rack'],
    ['a100', 'other'],
    ['mi300x', 'other'],
  ])('%s is %s', (gpu, system) => {
    expect(systemClassOf(gpu)).toBe(system);
  });
});
