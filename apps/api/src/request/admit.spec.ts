import { BatonError } from '@baton/contract';
import { TransportUnavailable } from '@baton/transport';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SequenceTable } from '../sequences/sequence-table';
import type { RateLimits } from '../http/access/rate-limits';
import type { CallClasses } from '../http/access/call-classes';
import { AdmitStep } from './admit';
import type { Admission, Routed } from './admit/admission';
import type { AdmissionGate } from './admit/admission-gate';
import { type FlowGate, FlowPass } from './admit/flow-gate';
import type { PolicyGate } from './admit/policy-gate';
import type { AcceptingState } from './take/accepting-state';

function routed(sequences: number, isDestroyed = false): Routed {
  const routes = Array(sequences).fill({ stage: 'prefill', next: 'decode' });
  const call = { response: { destroyed: isDestroyed } };
  return { call, checked: { request: {} }, routes } as unknown as Routed;
}

describe('admitting a request', () => {
  let visits: string[];
  let isOn: boolean;
  let hasClasses: boolean;
  let hasGate: boolean;
  let refuses: boolean;
  let rooms: boolean[];
  let enters: () => Promise<void>;

  beforeEach(() => {
    visits = [];
    isOn = true;
    hasClasses = false;
    hasGate = false;
    refuses = false;
    rooms = [];
    enters = () => Promise.resolve();
  });

  function admitStep(): AdmitStep {
    const visit = (name: string): void => void visits.push(name);
    const pass = (): Promise<FlowPass> => {
      visit('pass');
      return Promise.resolve(new FlowPass(0, undefined, () => visit('ended')));
    };
    const refuse = (): void => {
      visit('policy');
      if (refuses) throw new BatonError('slo_unattainable');
    };
    return new AdmitStep(
      { refuseWhenClosing: () => visit('accepting') } as unknown as AcceptingState,
      { isOn: hasClasses, of: () => visit('class') } as unknown as CallClasses,
      { isOn: hasGate, pass } as unknown as FlowGate,
      { isOn, refuse } as unknown as PolicyGate,
      {
        isOn,
        charge: () => {
          visit('charge');
          return Promise.resolve({ settle: (used: number) => visit(`settle ${used}`) });
        },
      } as unknown as RateLimits,
      { hasRoom: () => rooms.shift() ?? true } as unknown as SequenceTable,
      {
        canEverHold: (count: number) => count <= 3,
        enter: (stage: string, count: number, next: string) => {
          visit(`enter ${stage} ${count} ${next}`);
          return enters();
        },
        leave: (stage: string, count: number) => visit(`leave ${stage} ${count}`),
      } as unknown as AdmissionGate,
    );
  }

  const admit = (sequences: number): Promise<Admission> => admitStep().admit(routed(sequences), []);

  it('reads the class, and waits for its turn before it asks the policy', async () => {
    hasClasses = true;
    hasGate = true;
    const { charge } = await admit(1);
    expect(visits.slice(0, -1)).toEqual(['accepting', 'class', 'pass', 'policy', 'charge']);
    charge?.settle(0);
    expect(visits.slice(-2)).toEqual(['settle 0', 'ended']);
  });

  it('frees its place when the policy refuses', async () => {
    hasGate = true;
    refuses = true;
    await expect(admit(1)).rejects.toThrow(BatonError);
    expect(visits).toEqual(['accepting', 'pass', 'policy', 'ended']);
  });

  it('refuses late requests before their tokens are charged, then counts the sequences', async () => {
    await admit(3);
    expect(visits).toEqual(['accepting', 'policy', 'charge', 'enter prefill 3 decode']);
  });

  it('calls neither the lateness gate nor the budgets when they are off', async () => {
    isOn = false;
    expect((await admit(3)).charge).toBeUndefined();
    expect(visits).toEqual(['accepting', 'enter prefill 3 decode']);
  });

  it('refuses more sequences than may ever wait, before any other check', async () => {
    await expect(admit(4)).rejects.toThrow(new BatonError('queue_full'));
    expect(visits).toEqual(['accepting']);
  });

  it('refuses when this process has no room, without asking the broker', async () => {
    rooms = [false];
    await expect(admit(2)).rejects.toThrow(new BatonError('queue_full'));
    expect(visits).toEqual(['accepting', 'policy', 'charge', 'settle 0']);
  });

  it('reports an unavailable broker, and refunds the charge', async () => {
    enters = () => Promise.reject(new TransportUnavailable('away'));
    await expect(admit(1)).rejects.toThrow(new BatonError('broker_unavailable'));
    expect(visits.at(-1)).toBe('settle 0');
  });

  it('leaves the queue again, without a charge, when it is revoked', async () => {
    const admission = await admit(2);
    visits = [];
    admitStep().revoke(admission);
    expect(visits).toEqual(['settle 0', 'leave prefill 2']);
  });

  it.each([
    ['the client has left', true, true],
    ['the room is gone', false, false],
  ])('refuses an admitted request when %s meanwhile', (_why, room, isDestroyed) => {
    rooms = [room];
    const admission = { ...routed(2, isDestroyed), charge: undefined, faults: [] };
    expect(() => admitStep().recheck(admission)).toThrow(new BatonError('queue_full'));
  });
});
