import { defaultConfig } from '@baton/config';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ClusterView } from '../../cluster/cluster-view';
import type { ModelCatalog } from '../../cluster/model-catalog';
import { ORCA_ASK } from '../../http/orca-header';
import type { WireTaps } from '../../observers/recording/wire-taps';
import type { PlannedRequest } from '../admit/admission';
import { AnswerOpening } from './answer-opening';
import type { FaultInjector } from '../faults/fault-injector';
import type { AnswerParts } from '../take/call';
import type { AcceptingState } from '../take/accepting-state';

const HEAD = { id: 'chatcmpl-a', created: 0, model: 'm', systemFingerprint: 'fp' };
const ENGINE = { gauges: { kvUsage: 0.5, waitingCapacity: 1, waitingDeferred: 0 } };

describe('opening an answer', () => {
  let visits: string[];
  let parts: AnswerParts | undefined;
  let accepting: { isClosing: boolean };
  let taps: { isOn: boolean };

  beforeEach(() => {
    visits = [];
    parts = undefined;
    accepting = { isClosing: false };
    taps = { isOn: false };
  });

  function answerOpening(): AnswerOpening {
    const visit = (name: string): void => void visits.push(name);
    return new AnswerOpening(
      defaultConfig(),
      accepting as AcceptingState,
      { systemFingerprint: 'fp', answerOptions: {} } as unknown as ModelCatalog,
      { living: () => (visit('cluster'), [ENGINE]) } as unknown as ClusterView,
      { ...taps, tapFor: () => visit('tap') } as unknown as WireTaps,
      { around: () => visit('faults') } as unknown as FaultInjector,
    );
  }

  function admission(rest: object = {}, headers: object = {}): PlannedRequest {
    return {
      call: {
        requestId: 'made-up',
        arrivalUs: 5_999_999,
        message: { headers },
        response: { setHeader: (name: string, value: string) => visits.push(`${name}: ${value}`) },
        takeOver: () => visits.push('take over'),
      },
      checked: {
        request: { model: 'm', stream: true },
        answerId: (id: string) => `chatcmpl-${id}`,
        answer: (given: AnswerParts) => {
          parts = given;
        },
      },
      plans: [],
      faults: [],
      ...rest,
    } as unknown as PlannedRequest;
  }

  it('takes the connection over and calls no disabled part', () => {
    answerOpening().open(admission(), HEAD, () => undefined);
    expect(visits).toEqual(['take over']);
    expect(parts?.head).toBe(HEAD);
  });

  it('wraps an answer that has faults', () => {
    answerOpening().open(admission({ faults: [{}] }), HEAD, () => undefined);
    expect(visits).toEqual(['take over', 'faults']);
  });

  it('sends the load of the cluster to a client that asks for it', () => {
    answerOpening().open(admission({}, { [ORCA_ASK]: 'TEXT' }), HEAD, () => undefined);
    expect(visits.slice(0, 2)).toEqual(['take over', 'cluster']);
    expect(visits[2]).toMatch(/^endpoint-load-metrics: TEXT .*=0\.5,.*=1\.0$/);
  });

  it('attaches the tap of a recording, if there is one', () => {
    taps = { isOn: true };
    answerOpening().open(admission(), HEAD, () => undefined);
    expect(visits).toEqual(['take over', 'tap']);
  });

  it('tells the client to connect elsewhere once the process drains', () => {
    answerOpening().open(admission(), HEAD, () => undefined);
    expect(parts?.http.headers()).toEqual({});
    accepting.isClosing = true;
    expect(parts?.http.headers()).toEqual({ connection: 'close' });
  });

  it.each([
    ['the X-Request-Id', { clientRequestId: 'own' }, { requestId: 'said' }, 'own'],
    ['the request_id of the body', {}, { requestId: 'said' }, 'said'],
    ['what was made up', {}, {}, 'made-up'],
  ])('is named after %s', (_what, call, request, id) => {
    const given = admission();
    const checked = { ...given.checked, request: { ...given.checked.request, ...request } };
    const named = { ...given, call: { ...given.call, ...call }, checked } as PlannedRequest;
    expect(answerOpening().headOf(named)).toEqual({
      id: `chatcmpl-${id}`,
      created: 5,
      model: 'm',
      systemFingerprint: 'fp',
    });
  });
});
