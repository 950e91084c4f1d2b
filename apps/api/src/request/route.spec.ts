import { BatonError, STAGES, type Stage } from '@baton/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ClusterView } from '../cluster/cluster-view';
import type { LegForms } from '../routers/leg-forms';
import type { Legs } from '../routers/legs';
import type { AdmissionGate } from './admit/admission-gate';
import { RouteStep } from './route';
import type { CheckedRequest, Call } from './take/call';

const CALL = { body: { prompt: 'x' }, engineId: undefined } as Call;

function checked(fields: object = {}, rest: Partial<CheckedRequest> = {}): CheckedRequest {
  const request = {
    prompts: [{ ids: [1] }, { ids: [2] }],
    choices: 2,
    kvTransferParams: undefined,
    ...fields,
  };
  return { ...rest, request } as unknown as CheckedRequest;
}

describe('routing a request', () => {
  let ready: readonly Stage[];
  let settled: number;

  beforeEach(() => {
    ready = ['prefill', 'decode'];
    settled = 0;
  });

  function routeStep(): RouteStep {
    const legs = {
      settle: () => {
        settled += 1;
        return Promise.resolve({ kind: 'hold', pairs: [] });
      },
    };
    const cluster = {
      readyEngines: (stage: Stage) => (ready.includes(stage) ? 1 : 0),
      isReady: (stage: Stage) => ready.includes(stage),
      wasReadyLately: () => false,
      find: () => undefined,
    };
    const waiting = Object.fromEntries(STAGES.map((stage) => [stage, 0]));
    return new RouteStep(
      { areIn: ({ body }: Call) => 'room' in (body as object) } as unknown as LegForms,
      legs as unknown as Legs,
      cluster as unknown as ClusterView,
      { waiting: () => waiting } as unknown as AdmissionGate,
    );
  }

  it('gives each choice of each prompt one route', async () => {
    const { routes } = await routeStep().route(CALL, checked());
    expect(routes.map(({ flow, stage, next }) => [flow, stage, next])).toEqual(
      Array(4).fill(['route', 'prefill', 'decode']),
    );
  });

  it('gives each prompt one route when it is only computed', async () => {
    const { routes } = await routeStep().route(CALL, checked({}, { isPooling: true }));
    expect(routes.map(({ flow, stage }) => [flow, stage])).toEqual(
      Array(2).fill(['local', 'prefill']),
    );
  });

  it('calls no part of other routers for a call that is no leg', async () => {
    const { leg } = await routeStep().route(CALL, checked());
    expect([leg.kind, settled]).toEqual(['none', 0]);
  });

  it.each([
    ['its parameters', CALL, { kvTransferParams: {} }],
    ['the sign of a form', { ...CALL, body: { room: 1 } }, {}],
  ])('settles a leg that is known by %s, for its first sequence alone', async (_by, call, rest) => {
    const { leg, routes } = await routeStep().route(call, checked(rest));
    expect([leg.kind, settled]).toEqual(['hold', 1]);
    expect(routes.map(({ flow }) => flow)).toEqual(['hold', 'route', 'route', 'route']);
  });

  it('refuses when there is no engine', async () => {
    ready = ['decode'];
    await expect(routeStep().route(CALL, checked())).rejects.toThrow(new BatonError('no_engine'));
    const gone = { ...CALL, engineId: 'gone' } as Call;
    await expect(routeStep().route(gone, checked())).rejects.toThrow(new BatonError('no_engine'));
  });
});
