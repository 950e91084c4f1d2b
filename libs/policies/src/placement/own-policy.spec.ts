import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { NoAnswer, type OwnModule, PolicyError, type PolicyFault } from './guarded';
import type { OwnPolicySpec } from './own-policy';
import { Placer, policyName } from './placer';
import type { PlacementContext, Policy } from './policy';
import { engineView, placementContext } from '../../test/test-context';

const ENGINES = [engineView({ engineId: 'busy', requests: 9 }), engineView({ engineId: 'idle' })];
const CONTEXT = placementContext({ stage: 'prefill', engines: ENGINES });

function moduleOf(choose: (context: PlacementContext) => number): OwnModule<Policy> {
  return { create: () => ({ choose }) };
}

function placerOf(
  module: OwnModule<Policy>,
  watch?: ConstructorParameters<typeof Placer>[2],
  placeOf: OwnPolicySpec['placeOf'] = () => 'mine.mjs:4',
): Placer {
  const own = { kind: 'own', path: './policies/mine.mjs', module, placeOf } as const;
  const rest = { decodeChoice: 'late', disaggregationThreshold: 0 } as const;
  return new Placer({ prefill: own, decode: own, ...rest }, RandomStream.root(1), watch);
}

describe("a policy of the user's own", () => {
  it('chooses the engine', () => {
    expect(placerOf(moduleOf(() => 0)).onPrefill(CONTEXT)).toBe(0);
  });

  it('is created once per stage, with the stage and its own random stream', () => {
    const stages: string[] = [];
    const draws: number[] = [];
    placerOf({
      create: ({ stage, random }) => {
        stages.push(stage);
        draws.push(random.unit());
        return { choose: () => 0 };
      },
    });
    expect(stages).toEqual(['prefill', 'aggregated', 'decode', 'decode']);
    expect(new Set(draws).size).toBe(4);
  });

  it('gives way to the fallback when a call was ended, and after three is not called', () => {
    const faults: PolicyFault[] = [];
    let calls = 0;
    const call = (): never => {
      calls += 1;
      throw calls === 1 ? new NoAnswer(50, 'loop.mjs:7') : new NoAnswer(50);
    };
    const onFault = (fault: PolicyFault): unknown => faults.push(fault);
    const placer = placerOf(
      moduleOf(() => 0),
      { onFault, call },
    );
    for (let i = 0; i < 5; i++) expect(placer.onPrefill(CONTEXT)).toBe(1);
    expect(calls).toBe(3);
    expect(faults.map(({ kind }) => kind)).toEqual(Array(5).fill('no_answer'));
    const ended = 'choose (prefill) did not return within 50 ms';
    expect(faults[0]?.message).toContain(`${ended} (loop.mjs:7)`);
    // The line of the method, where that of the running code is unknown.
    expect(faults[1]?.message).toContain(`${ended} (mine.mjs:4)`);
    expect(faults[4]?.message).toContain('is not called any more, because 3 calls did not return');
  });

  it('is called again while few of its calls do not return', () => {
    let calls = 0;
    const call = <Answer>(ask: () => Answer): Answer => {
      calls += 1;
      if (calls % 600 === 0) throw new NoAnswer(50);
      return ask();
    };
    const watch = { onFault: () => undefined, call };
    const placer = placerOf(
      moduleOf(() => 0),
      watch,
    );
    for (let i = 0; i < 3_000; i++) placer.onPrefill(CONTEXT);
    expect(calls).toBe(3_000);
  });

  it.each([
    [2, 'returned 2; expected an integer from 0 to 1'],
    [-1, 'returned -1'],
    [0.5, 'returned 0.5'],
    [undefined, 'returned undefined'],
    [{}, 'returned an object'],
  ])('gives way to the fallback when it returns %j', (answer, message) => {
    const kind = 'wrong_answer';
    const faults: PolicyFault[] = [];
    const placer = placerOf(
      moduleOf(() => answer as number),
      { onFault: (fault) => faults.push(fault) },
    );
    expect(placer.onPrefill(CONTEXT)).toBe(1);
    expect(faults).toMatchObject([{ kind, stage: 'prefill', path: './policies/mine.mjs' }]);
    expect(faults[0]?.message).toContain(`./policies/mine.mjs: choose (prefill) ${message}`);
  });

  it('gives way to the fallback when it is async, and its rejection ends no process', async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): unknown => rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    const faults: PolicyFault[] = [];
    const choose = (): never => Promise.reject(new Error('too late')) as never;
    const placer = placerOf(moduleOf(choose), { onFault: (fault) => faults.push(fault) });
    expect(placer.onPrefill(CONTEXT)).toBe(1);
    // Rejections without a handler are reported before the next task.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
    expect(faults).toMatchObject([{ kind: 'wrong_answer' }]);
    expect(faults[0]?.message).toContain('returned a promise; expected an integer from 0 to 1');
  });

  it('reports file, line and column of its error', () => {
    const error = new TypeError('x is not a function');
    error.stack = `TypeError: x\n    at choose (file:///policies/mine.mjs:12:7)\n    at y`;
    const faults: PolicyFault[] = [];
    const failing = moduleOf(() => {
      throw error;
    });
    placerOf(failing, { onFault: (fault) => faults.push(fault) }).onPrefill(CONTEXT);
    expect(faults[0]?.message).toContain('TypeError: x is not a function (mine.mjs:12:7).');
  });

  it.each([
    ['a wrong answer', () => 7, 'returned 7; expected an integer from 0 to 1'],
    [
      'an error without a line',
      () => {
        throw 'no';
      },
      'threw no',
    ],
  ])('is called by the line of its method after %s', (_what, choose, message) => {
    const faults: PolicyFault[] = [];
    const placeOf = (method: unknown): string | undefined =>
      method === choose ? 'mine.mjs:4' : undefined;
    placerOf(moduleOf(choose), { onFault: (fault) => faults.push(fault) }, placeOf).onPrefill(
      CONTEXT,
    );
    expect(faults[0]?.message).toContain(`${message} (mine.mjs:4).`);
  });

  it('is replaced by the fallback when a choice takes over 50 ms of wall time', () => {
    let nowMs = 0;
    let tookMs = 50;
    const faults: PolicyFault[] = [];
    const slow = moduleOf(() => {
      nowMs += tookMs;
      return 0;
    });
    const watch = { onFault: (fault: PolicyFault) => faults.push(fault), nowMs: () => nowMs };
    const placer = placerOf(slow, watch);
    expect(placer.onPrefill(CONTEXT)).toBe(0);
    tookMs = 51;
    expect(placer.onPrefill(CONTEXT)).toBe(1);
    expect(faults).toMatchObject([{ kind: 'slow' }]);
    expect(faults[0]?.message).toContain('took 51 ms; at most 50 ms are allowed (mine.mjs:4).');
  });

  it('ends the run at its first fault when nothing counts faults', () => {
    expect(() => placerOf(moduleOf(() => 7)).onPrefill(CONTEXT)).toThrow(PolicyError);
  });

  it('is called by the name of its file', () => {
    const module = moduleOf(() => 0);
    expect(policyName({ kind: 'own', path: '../a/b.mjs', module })).toBe('b.mjs');
    expect(policyName({ kind: 'random' })).toBe('random');
    expect(policyName('pull')).toBe('pull');
  });
});
