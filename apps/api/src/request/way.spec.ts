import { BatonError, type Fault } from '@baton/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AdmitStep } from './admit';
import type { ServeStep } from './serve';
import type { FaultInjector } from './faults/fault-injector';
import type { PlanStep } from './plan';
import type { Refusals } from './refusals';
import type { RouteStep } from './route';
import type { TakeStep } from './take';
import type { Call } from './take/call';
import { RequestWay } from './way';

const CALL = { response: { req: { headers: {} } } } as Call;
const FAULT: Fault = {
  rule: 'r',
  stage: 'queue',
  action: { kind: 'cut', afterTokens: 0 },
};

describe('the way of a request', () => {
  let visits: string[];
  let failing: string | undefined;
  let faults: { readonly may: boolean; readonly continues: boolean };
  let plays: boolean;

  beforeEach(() => {
    visits = [];
    failing = undefined;
    faults = { may: false, continues: true };
    plays = false;
  });

  function visit<T>(step: string, result?: T): T {
    visits.push(step);
    if (step === failing) throw new BatonError('queue_full');
    return result as T;
  }

  const later = <T>(step: string, result?: T) => {
    return (): Promise<T> => Promise.resolve().then(() => visit(step, result));
  };

  function way(): RequestWay {
    const checked = { request: { model: 'm' } };
    return new RequestWay(
      { plays, take: () => visit('take', checked), play: later('play') } as unknown as TakeStep,
      { route: later('route', { call: CALL, checked, routes: [] }) } as unknown as RouteStep,
      {
        hasRules: faults.may,
        judge: () => visit('judge', [FAULT]),
        atQueue: later('strike', faults.continues),
      } as unknown as FaultInjector,
      {
        admit: (routed: object, struck: readonly Fault[]) =>
          Promise.resolve(visit('admit', { ...routed, faults: struck })),
        recheck: () => visit('recheck'),
        revoke: () => visit('revoke'),
      } as unknown as AdmitStep,
      { plan: later('plan', []) } as unknown as PlanStep,
      {
        serve: (request: { faults: readonly Fault[] }) =>
          Promise.resolve(visit(`serve ${request.faults.length}`)),
      } as unknown as ServeStep,
      {
        cutOff: () => void visits.push('cut off'),
      } as unknown as Refusals,
    );
  }

  const ALL = ['take', 'route', 'admit', 'plan', 'recheck', 'serve 0'];

  it('takes the steps in order, and calls no disabled part', async () => {
    await way().answer(CALL);
    expect(visits).toEqual(ALL);
  });

  it('applies faults between route and admission', async () => {
    faults = { may: true, continues: true };
    await way().answer(CALL);
    const [take, route, ...rest] = ALL;
    expect(visits).toEqual([take, route, 'judge', 'strike', ...rest.slice(0, -1), 'serve 1']);
  });

  it('ends when a fault cuts the client off, and frees the other leg', async () => {
    faults = { may: true, continues: false };
    await way().answer(CALL);
    expect(visits).toEqual(['take', 'route', 'judge', 'strike', 'cut off']);
  });

  it('has one step when answers are played', async () => {
    plays = true;
    await way().answer(CALL);
    expect(visits).toEqual(['play']);
  });

  it.each(['take', 'route', 'admit'])('ends with a refusal at %s', async (step) => {
    failing = step;
    await expect(way().answer(CALL)).rejects.toThrow(BatonError);
    expect(visits).toEqual(ALL.slice(0, ALL.indexOf(step) + 1));
  });

  it.each(['plan', 'recheck'])('takes the admission back when %s refuses', async (step) => {
    failing = step;
    await expect(way().answer(CALL)).rejects.toThrow(BatonError);
    const taken = ALL.slice(0, ALL.indexOf(step) + 1);
    expect(visits).toEqual([...taken, 'revoke']);
  });
});
