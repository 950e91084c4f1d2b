import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulate } from './driver';
import type { RecordedPlacement } from './recorded-placement';
import { scenarioWith, workloadOf } from '../test/test-scenario';

/** Engines of 2P3D2A, in the order of the run: prefill 0-1, decode 2-4, aggregated 5-6. */
const FIRST_DECODE = 2;
const FIRST_AGGREGATED = 5;

interface Place {
  readonly prefill: number;
  readonly decode: number;
  readonly aggregated: number;
}

const split = fc.record({
  prefill: fc.nat(1),
  decode: fc.nat(2),
  aggregated: fc.constant(-1),
});
const local = fc.record({
  prefill: fc.constant(-1),
  decode: fc.nat(2),
  aggregated: fc.constant(-1),
});
const whole = fc.record({
  prefill: fc.constant(-1),
  decode: fc.constant(-1),
  aggregated: fc.nat(1),
});

function placementOf(places: readonly Place[]): RecordedPlacement {
  return {
    prefill: Int16Array.from(places, ({ prefill }) => prefill),
    decode: Int16Array.from(places, ({ decode }) => decode),
    aggregated: Int16Array.from(places, ({ aggregated }) => aggregated),
  };
}

describe('a recorded placement', () => {
  it('sends every request to its recorded engines, under any policy', () => {
    const policies = fc.constantFrom('pull' as const, { kind: 'round-robin' as const });
    const places = fc.array(fc.oneof(split, local, whole), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(places, policies, (given, policy) => {
        const scenario = scenarioWith(
          '2P3D2A',
          workloadOf(given.map((_none, i) => ({ atUs: i }))),
          {
            recordedPlacement: placementOf(given),
            placement: {
              prefill: policy,
              decode: policy,
              decodeChoice: 'early',
              disaggregationThreshold: 0,
            },
          },
        );
        const { log } = simulate(scenario);
        given.forEach(({ prefill, decode, aggregated }, row) => {
          const second = aggregated < 0 ? FIRST_DECODE + decode : FIRST_AGGREGATED + aggregated;
          const first = prefill < 0 ? second : prefill;
          expect([log.prefillEngine[row], log.decodeEngine[row]]).toEqual([first, second]);
        });
      }),
    );
  });

  it('leaves unrecorded rows to the policy', () => {
    const unknown = { prefill: -1, decode: -1, aggregated: -1 };
    const { log } = simulate(
      scenarioWith('2P2D', workloadOf([{}, {}]), {
        recordedPlacement: placementOf([{ ...unknown, prefill: 1, decode: 1 }, unknown]),
      }),
    );
    expect(Array.from(log.prefillEngine)).toEqual([1, 0]);
  });

  it('is refused for a cluster whose engines change', () => {
    const scenario = scenarioWith('1A', workloadOf([{}]), {
      changes: [{ atUs: 1, kind: 'join', pool: 0 }],
      recordedPlacement: placementOf([]),
    });
    expect(() => simulate(scenario)).toThrow('needs a fixed topology');
  });
});
