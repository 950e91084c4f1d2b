import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { linkShare, transferRate } from './transfer-rate';
import { type CompletedTransfer, TransferSet, type TransferStart } from './transfer-set';

const GB = 1e9;

function start(overrides: Partial<TransferStart>): TransferStart {
  return {
    id: 'a',
    sourceId: 'p0',
    targetId: 'd0',
    bytes: 1_000_000,
    baseLatencyUs: 0,
    sourceBytesPerSecond: GB,
    targetBytesPerSecond: GB,
    sourcePorts: 1,
    nowUs: 0,
    ...overrides,
  };
}

function runToEnd(set: TransferSet): CompletedTransfer[] {
  const done: CompletedTransfer[] = [];
  for (let next = set.nextCompletionUs(); next !== undefined; next = set.nextCompletionUs()) {
    done.push(...set.completed(next));
  }
  return done;
}

describe('transferRate', () => {
  it('is the share of the slower end', () => {
    const fast = linkShare(100, 2);
    expect(transferRate(fast, linkShare(30, 1))).toBe(30);
    expect(transferRate(fast, linkShare(300, 2))).toBe(50);
  });
});

describe('a set of transfers', () => {
  it('takes base latency + bytes / rate for a lone transfer', () => {
    const set = new TransferSet();
    set.start(start({ bytes: 2_000_000, baseLatencyUs: 50, nowUs: 100 }));
    expect(set.nextCompletionUs()).toBe(100 + 50 + 2_000);
    expect(set.completed(2_149)).toEqual([]);
    expect(set.completed(2_150)).toEqual([{ id: 'a', completedUs: 2_150 }]);
    expect(set.nextCompletionUs()).toBeUndefined();
  });

  it('halves the rate of two that share a source, and restores it', () => {
    const set = new TransferSet();
    set.start(start({ id: 'a' }));
    set.start(start({ id: 'b', targetId: 'd1', bytes: 2_000_000 }));
    expect(set.rateOf('a')).toBe(GB / 2);
    expect(runToEnd(set)).toEqual([
      { id: 'a', completedUs: 2_000 },
      { id: 'b', completedUs: 3_000 },
    ]);
  });

  it('counts at both ends', () => {
    const set = new TransferSet();
    set.start(start({ id: 'a', targetId: 'd0' }));
    set.start(start({ id: 'b', sourceId: 'p1', targetId: 'd0' }));
    set.start(start({ id: 'c', sourceId: 'p2', targetId: 'd1', targetBytesPerSecond: GB / 4 }));
    expect([set.rateOf('a'), set.rateOf('b'), set.rateOf('c')]).toEqual([GB / 2, GB / 2, GB / 4]);
  });

  it('slows a transfer whose target ports share a source port, alone and beside others', () => {
    const set = new TransferSet();
    set.start(start({ id: 'a', sourcePorts: 1 / 4 }));
    expect(set.rateOf('a')).toBe(GB / 4);
    set.start(start({ id: 'b', targetId: 'd1', bytes: 0, baseLatencyUs: 2_000 }));
    expect([set.rateOf('a'), set.rateOf('b')]).toEqual([GB / 8, GB / 2]);
    expect(runToEnd(set)).toEqual([
      { id: 'b', completedUs: 2_000 },
      { id: 'a', completedUs: 5_000 },
    ]);
  });

  it('lets several source ports send to one target port, which limits a lone transfer', () => {
    const set = new TransferSet();
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) {
      set.start(start({ id, targetId: id, sourcePorts: 4 }));
      expect(set.rateOf('a')).toBe(GB);
    }
    set.start(start({ id: 'e', targetId: 'e', sourcePorts: 4 }));
    expect(set.rateOf('a')).toBe((4 * GB) / 5);
  });

  it('completes several in one call, each at its own instant', () => {
    const set = new TransferSet();
    set.start(start({ id: 'a' }));
    set.start(start({ id: 'b', bytes: 2_000_000 }));
    expect(set.completed(1_000_000)).toEqual([
      { id: 'a', completedUs: 2_000 },
      { id: 'b', completedUs: 3_000 },
    ]);
  });

  it('completes equal transfers in the order of their start', () => {
    const set = new TransferSet();
    for (const id of ['x', 'b', 'a']) set.start(start({ id }));
    expect(set.completed(3_000).map(({ id }) => id)).toEqual(['x', 'b', 'a']);
  });

  it('gives the share of a cancelled one to the others', () => {
    const set = new TransferSet();
    set.start(start({ id: 'a' }));
    set.start(start({ id: 'b' }));
    expect(set.cancel('b', 1_000)).toBe(true);
    expect(set.cancel('b', 1_000)).toBe(false);
    expect(runToEnd(set)).toEqual([{ id: 'a', completedUs: 1_500 }]);
  });

  it('sends zero bytes in the latency alone', () => {
    const set = new TransferSet();
    set.start(start({ bytes: 0, baseLatencyUs: 7 }));
    expect(set.nextCompletionUs()).toBe(7);
  });

  it('refuses a second transfer under an id that is under way', () => {
    const set = new TransferSet();
    set.start(start({}));
    expect(() => set.start(start({}))).toThrow(/under way/);
  });
});

describe('one target’s set', () => {
  it('shares the source with announced transfers', () => {
    const set = new TransferSet();
    set.start(start({ sourceActiveReads: 4 }));
    expect(set.nextCompletionUs()).toBe(4_000);
    set.setSourceShare('p0', 1, 2_000);
    expect(set.nextCompletionUs()).toBe(2_500);
  });

  it('never counts fewer than it has itself', () => {
    const set = new TransferSet();
    set.start(start({ id: 'a', sourceActiveReads: 1 }));
    set.start(start({ id: 'b', sourceActiveReads: 1 }));
    expect(set.rateOf('a')).toBe(GB / 2);
  });

  it('counts its own completions before the source announces them', () => {
    const set = new TransferSet();
    set.start(start({ id: 'a', sourceActiveReads: 1 }));
    set.start(start({ id: 'b', bytes: 2_000_000, sourceActiveReads: 2 }));
    set.completed(2_000);
    expect(set.rateOf('b')).toBe(GB);
  });

  it('ignores counts from a source that it does not read from', () => {
    const set = new TransferSet();
    set.setSourceShare('p0', 5, 0);
    set.start(start({}));
    expect(set.rateOf('a')).toBe(GB);
  });
});

const arbitraryStarts = fc.array(
  fc.record({
    source: fc.nat(2),
    target: fc.nat(2),
    bytes: fc.nat(3_000_000),
    baseLatencyUs: fc.nat(500),
    nowUs: fc.nat(5_000),
  }),
  { minLength: 1, maxLength: 12 },
);
/** A transfer without duration. */
const AT_ONCE = { source: 0, target: 0, bytes: 0, baseLatencyUs: 0, nowUs: 0 };
const SOURCE_RATES = [GB, GB / 2, 3 * GB];
const TARGET_RATES = [GB, 2 * GB, GB / 3];

function startsOf(rows: { source: number; target: number; bytes: number; nowUs: number }[]) {
  return [...rows]
    .sort((a, b) => a.nowUs - b.nowUs)
    .map((row, i) =>
      start({
        ...row,
        id: `t${i}`,
        sourceId: `p${row.source}`,
        targetId: `d${row.target}`,
        sourceBytesPerSecond: SOURCE_RATES[row.source] ?? GB,
        targetBytesPerSecond: TARGET_RATES[row.target] ?? GB,
      }),
    );
}

/** A sum of thousands of rounded parts may move the last byte over a boundary of 1 µs. */
const SUMMATION_ERROR_US = 2;

/** The same fluid model, simulated plainly one microsecond at a time. */
function crawl(starts: readonly TransferStart[]): Map<string, number> {
  const left = new Map(starts.map((s) => [s.id, s.bytes]));
  const results = new Map<string, number>();
  for (let nowUs = 0; results.size < starts.length; nowUs += 1) {
    for (const s of starts) {
      const isDue = s.nowUs <= nowUs && !results.has(s.id) && s.nowUs + s.baseLatencyUs <= nowUs;
      if (isDue && (left.get(s.id) ?? 0) <= 1e-3) {
        results.set(s.id, nowUs);
      }
    }
    const active = starts.filter((s) => s.nowUs <= nowUs && !results.has(s.id));
    for (const s of active) {
      if (s.nowUs + s.baseLatencyUs > nowUs) continue;
      const rate = transferRate(
        linkShare(s.sourceBytesPerSecond, active.filter((o) => o.sourceId === s.sourceId).length),
        linkShare(s.targetBytesPerSecond, active.filter((o) => o.targetId === s.targetId).length),
      );
      left.set(s.id, (left.get(s.id) ?? 0) - rate / 1e6);
    }
  }
  return results;
}

describe('laws of shared links', () => {
  it('bytes are conserved: completions are those of a microsecond-by-microsecond simulation', () => {
    fc.assert(
      fc.property(arbitraryStarts, (rows) => {
        const starts = startsOf(rows);
        const set = new TransferSet();
        const done: CompletedTransfer[] = [];
        for (const s of starts) {
          done.push(...set.completed(s.nowUs));
          set.start(s);
        }
        done.push(...runToEnd(set));
        const expected = crawl(starts);
        expect(done).toHaveLength(starts.length);
        for (const { id, completedUs } of done) {
          const exactUs = expected.get(id) ?? NaN;
          expect(Math.abs(completedUs - exactUs)).toBeLessThanOrEqual(SUMMATION_ERROR_US);
        }
      }),
      { numRuns: runsOf(150) },
    );
  });

  it('reading in between changes no completion', () => {
    fc.assert(
      fc.property(arbitraryStarts, fc.array(fc.nat(20_000)), (rows, questions) => {
        const plain = new TransferSet();
        const asked = new TransferSet();
        const seen: CompletedTransfer[] = [];
        const starts = startsOf(rows);
        const events = [
          ...starts.map((s) => ({ atUs: s.nowUs, s })),
          ...questions.map((atUs) => ({ atUs, s: undefined })),
        ].sort((a, b) => a.atUs - b.atUs);
        for (const { atUs, s } of events) {
          if (s === undefined) seen.push(...asked.completed(atUs));
          else {
            asked.start(s);
            plain.start(s);
          }
        }
        expect([...seen, ...runToEnd(asked)]).toEqual(runToEnd(plain));
      }),
      { numRuns: runsOf(500) },
    );
  });

  it('is fair: of transfers that begin together on the same ends, the smaller never ends later', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000_000), { minLength: 2, maxLength: 10 }), (sizes) => {
        const set = new TransferSet();
        sizes.forEach((bytes, i) => set.start(start({ id: `${i}`, bytes })));
        const ends = new Map(runToEnd(set).map((done) => [Number(done.id), done.completedUs]));
        const bySize = [...sizes.keys()].sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
        const ordered = bySize.map((i) => ends.get(i) ?? NaN);
        expect(ordered).toEqual([...ordered].sort((a, b) => a - b));
      }),
      { numRuns: runsOf(500) },
    );
  });

  it('conserves work: a link that is never idle is free after the sum of all bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1_000, max: 3_000_000 }), { minLength: 1, maxLength: 12 }),
        (sizes) => {
          const set = new TransferSet();
          sizes.forEach((bytes, i) =>
            set.start(
              start({ id: `${i}`, bytes, targetId: `d${i}`, targetBytesPerSecond: 9 * GB }),
            ),
          );
          const lastUs = runToEnd(set).at(-1)?.completedUs ?? 0;
          const idealUs = sizes.reduce((a, b) => a + b, 0) / 1_000;
          expect(lastUs).toBeGreaterThanOrEqual(Math.ceil(idealUs - 1e-3));
          expect(lastUs).toBeLessThanOrEqual(idealUs + sizes.length);
        },
      ),
      { numRuns: runsOf(500) },
    );
  });

  it('is consistent: targets that get the counts time a source as one set does', () => {
    fc.assert(
      fc.property(arbitraryStarts, (rows) => {
        const starts = startsOf(rows).map((s) => ({ ...s, targetId: `d-${s.id}` }));
        const whole = new TransferSet();
        const parts = starts.map(() => new TransferSet());
        const active = new Map<string, number>();
        const seen: CompletedTransfer[] = [];
        const share = (sourceId: string, delta: number, nowUs: number): void => {
          active.set(sourceId, (active.get(sourceId) ?? 0) + delta);
          for (const part of parts) part.setSourceShare(sourceId, active.get(sourceId) ?? 0, nowUs);
          collect(nowUs);
        };
        const collect = (nowUs: number): void => {
          const done = parts.flatMap((p) => p.completed(nowUs));
          seen.push(...done);
          for (const { id } of done) {
            share(starts.find((s) => s.id === id)?.sourceId ?? '', -1, nowUs);
          }
        };
        const finish = (untilUs: number): void => {
          for (;;) {
            const nextUs = Math.min(...parts.map((p) => p.nextCompletionUs() ?? Infinity));
            if (nextUs > untilUs || nextUs === Infinity) return;
            collect(nextUs);
          }
        };
        starts.forEach((s, i) => {
          finish(s.nowUs);
          whole.start(s);
          const sourceActiveReads = (active.get(s.sourceId) ?? 0) + 1;
          parts[i]?.start({ ...s, sourceActiveReads });
          share(s.sourceId, 1, s.nowUs);
        });
        finish(Infinity);
        const byId = (a: CompletedTransfer, b: CompletedTransfer): number => (a.id < b.id ? -1 : 1);
        expect(seen.sort(byId)).toEqual(runToEnd(whole).sort(byId));
      }),
      { numRuns: runsOf(500), examples: [[[AT_ONCE, { ...AT_ONCE, bytes: 501 }]]] },
    );
  });
});
