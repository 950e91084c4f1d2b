import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../../test/support/runs';
import {
  ChangesError,
  checkChanges,
  formatChanges,
  parseChanges,
  type ScheduledChange,
} from './changes';
import { parseTopology } from './topology';

const SECOND = 1_000_000;

describe('parseChanges', () => {
  it('reads joins, leaves and changes of role, in order of time', () => {
    expect(parseChanges('180s:1P>D, 60s:+2d,1.5m:-1P')).toEqual([
      { atUs: 60 * SECOND, kind: 'join', count: 2, role: 'decode' },
      { atUs: 90 * SECOND, kind: 'leave', count: 1, role: 'prefill' },
      { atUs: 180 * SECOND, kind: 'become', count: 1, role: 'prefill', to: 'decode' },
    ]);
  });

  it('keeps changes of the same instant in the written order', () => {
    const kinds = parseChanges('2s:+1A,1s:-1A,2s:-1A,1000ms:+1A').map(({ kind }) => kind);
    expect(kinds).toEqual(['leave', 'join', 'join', 'leave']);
  });

  it.each([
    ['', 'not understood'],
    ['60s:+1D,', 'not understood'],
    ['60:+1D', 'not understood'],
    ['60s:1D', 'not understood'],
    ['60s:+1X', 'not understood'],
    ['-60s:+1D', 'not understood'],
    ['60s:+1P>D', 'not understood'],
    ['60s:+0D', 'concerns 0 engines: write 1 to 4096'],
    ['60s:+4097D', 'concerns 4097 engines'],
    ['60s:2P>P', 'name two roles'],
    ['9000h:+1D', 'after more than a year'],
    [Array.from({ length: 10_001 }, () => '1s:+1D').join(), 'more than 10000 changes'],
  ])('refuses %j in one line that says what to do', (text, hint) => {
    expect(() => parseChanges(text)).toThrow(ChangesError);
    expect(() => parseChanges(text)).toThrow(hint);
  });

  it('reads back what formatChanges writes', () => {
    fc.assert(
      fc.property(schedule, (changes) => {
        expect(parseChanges(formatChanges(changes))).toEqual(changes);
      }),
    );
  });

  it('never answers with more than one short line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          parseChanges(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ChangesError);
          expect((error as ChangesError).message).toMatch(/^.{1,200}$/);
        }
      }),
      { numRuns: runsOf(1_000) },
    );
  });
});

describe('checkChanges', () => {
  const check = (topology: string, changes: string, startupUs = 0): void =>
    checkChanges(parseTopology(topology), parseChanges(changes), startupUs);

  it.each([
    ['2P2D', '1s:-1P,2s:+1P,3s:1P>D'],
    ['4A', '1s:+1P,1s:+1D,2s:-3A'],
    ['1P1D', '5s:+1D,5s:-1D'],
    ['1P1D', '5s:-1D,5s:+1D'],
    ['1P1D', '5s:+3A,6s:1A>P,6s:1A>D'],
  ])('lets %s follow %s', (topology, changes) => {
    expect(() => check(topology, changes)).not.toThrow();
  });

  it.each([
    [
      '2P2D',
      '1s:-3P',
      'At 1s this change removes 3 of 2 ready prefill engines. Keep at least one.',
    ],
    ['2P2D', '1s:2P>D', 'At 1s this change removes 2 of 2 ready prefill engines'],
    ['1A', '1s:-1A', 'At 1s this change removes 1 of 1 ready aggregated engines'],
    ['4A', '1s:+1P,2s:-1P', 'At 2s this change removes 1 of 1 ready prefill engines'],
    ['4A', '1s:-1D', 'At 1s this change removes 1 of 0 ready decode engines'],
    ['4000A', '1s:+97A', 'over 4096 engines'],
  ])('refuses %s with %s', (topology, changes, sentence) => {
    expect(() => check(topology, changes)).toThrow(ChangesError);
    expect(() => check(topology, changes)).toThrow(sentence);
  });

  it('counts a joining engine once it has loaded', () => {
    expect(() => check('1P1D', '10s:+1D,40s:-1D', 30 * SECOND)).not.toThrow();
    expect(() => check('1P1D', '10s:+1D,39s:-1D', 30 * SECOND)).toThrow(
      'At 39s this change removes 1 of 1 ready decode',
    );
  });
});

const role = fc.constantFrom('prefill', 'decode', 'aggregated');
const head = {
  atUs: fc.oneof(fc.nat(1e6), fc.integer({ min: 0, max: 31_536_000 * SECOND })),
  count: fc.integer({ min: 1, max: 1024 }),
  role,
};
const change: fc.Arbitrary<ScheduledChange> = fc.oneof(
  fc.record({ ...head, kind: fc.constantFrom('join', 'leave') }),
  fc
    .record({ ...head, kind: fc.constant('become'), to: role })
    .filter((become) => become.to !== become.role),
);
const schedule = fc
  .array(change, { minLength: 1, maxLength: 20 })
  .map((changes) => [...changes].sort((a, b) => a.atUs - b.atUs));
