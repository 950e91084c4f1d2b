import { FAULT_STAGES, type FaultKind } from '../fault';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRules, type RulesRead, writeRules } from './read-rules';
import { type FaultRule, fieldNamesOf, KINDS } from './rule';

function rulesOf(given: unknown): readonly FaultRule[] {
  const read = readRules(given);
  return read.kind === 'rules' ? read.rules : [];
}

function problemOf(given: unknown): Extract<RulesRead, { kind: 'problem' }>['problem'] | undefined {
  const read = readRules(given);
  return read.kind === 'problem' ? read.problem : undefined;
}

describe('fault rules', () => {
  it('may have times with units, and names with dashes or underscores', () => {
    const given = [
      { at: 'queue', fault: 'error', status: 429, 'retry-after': '2s', every: 10 },
      { name: 'slow', at: 'transfer', fault: 'slow-link', factor: 0.1, after: '1m', for: 30 },
      { at: 'stream', fault: 'stall', delay: '200ms', after_tokens: 3, header: 'X-Fault: stall' },
    ];
    expect(rulesOf(given)).toEqual([
      { name: 'fault-1', at: 'queue', fault: 'error', status: 429, retryAfter: 2, every: 10 },
      { name: 'slow', at: 'transfer', fault: 'slow-link', factor: 0.1, after: 60, for: 30 },
      {
        name: 'fault-3',
        at: 'stream',
        fault: 'stall',
        delay: 0.2,
        afterTokens: 3,
        header: 'X-Fault: stall',
      },
    ]);
  });

  it('are equal after writing and reading', () => {
    const seconds = fc.integer({ min: 1, max: 3_600 });
    const pair = fc
      .constantFrom(...(Object.keys(KINDS) as FaultKind[]))
      .chain((fault) =>
        fc.record({ fault: fc.constant(fault), at: fc.constantFrom(...KINDS[fault].stages) }),
      );
    const values = fc.record({
      rate: fc.double({ min: 1e-6, max: 1, noNaN: true }),
      every: fc.integer({ min: 1, max: 99 }),
      after: seconds,
      for: seconds,
      delay: seconds,
      retryAfter: seconds,
      header: fc.constant('X-A: b'),
      model: fc.constant('m'),
      message: fc.constant('no'),
      status: fc.integer({ min: 400, max: 599 }),
      limit: seconds,
      afterTokens: seconds,
      factor: fc.constant(0.5),
    });
    fc.assert(
      fc.property(pair, values, ({ fault, at }, all) => {
        const fields = fieldNamesOf(fault, at);
        const own = Object.entries(all).filter(([name]) => fields.some((field) => field === name));
        const rule = { name: 'a', at, fault, ...Object.fromEntries(own) } as FaultRule;
        expect(rulesOf(JSON.parse(JSON.stringify(writeRules([rule]))))).toEqual([rule]);
      }),
    );
  });

  it('accept each fault at its stages, and refuse it elsewhere', () => {
    const more = { delay: 1, factor: 0.5 } as Record<string, number>;
    for (const [fault, { stages, needs }] of Object.entries(KINDS)) {
      for (const at of FAULT_STAGES) {
        const needed = Object.fromEntries(needs.map((field) => [field, more[field]]));
        const isRead = rulesOf([{ at, fault, ...needed }]).length === 1;
        expect(isRead, `${fault} at ${at}`).toBe(stages.includes(at));
      }
    }
  });

  it.each([
    ['a map', {}, [], 'must be a list of rules'],
    ['too many', new Array(101).fill({}), [], 'must be at most 100 rules'],
    ['a text', ['x'], [0], 'must be a map with at and fault'],
    [
      'an unknown stage',
      [{ at: 'disk', fault: 'cut' }],
      [0, 'at'],
      'must be one of queue, prefill, transfer, decode, stream',
    ],
    [
      'a fault at a wrong stage',
      [{ at: 'queue', fault: 'stall', delay: 1 }],
      [0, 'fault'],
      'stall happens at stream, not at queue',
    ],
    ['a missing field', [{ at: 'queue', fault: 'delay' }], [0], 'needs delay for delay'],
    [
      'an unknown field',
      [{ at: 'queue', fault: 'cut', delay: 1 }],
      [0, 'delay'],
      'is not a field of cut at queue (name, rate, every, after, for, header, model, limit)',
    ],
    [
      'a rate of 0',
      [{ at: 'queue', fault: 'cut', rate: 0 }],
      [0, 'rate'],
      'must be a number from 0.000001 to 1',
    ],
    [
      'a status of success',
      [{ at: 'queue', fault: 'error', status: 399 }],
      [0, 'status'],
      'must be an integer from 400 to 599',
    ],
    [
      'a time of 0',
      [{ at: 'queue', fault: 'delay', delay: 'soon' }],
      [0, 'delay'],
      'must be a number of seconds from 0.001 to 3600, or a time like 200ms',
    ],
    [
      'a malformed header',
      [{ at: 'queue', fault: 'cut', header: 'a b' }],
      [0, 'header'],
      'must be a text like X-Fault: busy',
    ],
    [
      'a name twice',
      [
        { name: 'a', at: 'queue', fault: 'cut' },
        { name: 'a', at: 'stream', fault: 'cut' },
      ],
      [1, 'name'],
      "'a' is given twice",
    ],
  ])('refuse %s with its path and one sentence', (_what, given, path, complaint) => {
    expect(problemOf(given)).toEqual({ path, complaint });
  });
});
