import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TimerWheel } from '../timer-wheel';
import { type Beat, type Lease, Standby, standBy } from './standby';

const TIMES = { lockMs: 1_800, lockRenewMs: 450, lockCeilingMs: 3_000 };
const SELF = fileURLToPath(import.meta.url);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The thread's side, with the instants and leases of its extensions. */
class Extensions {
  readonly atMs: number[] = [];
  leases: readonly Lease[] = [];
  private readonly beats = new EventEmitter();

  constructor(times = TIMES) {
    const beganMs = performance.now();
    const extend = (leases: readonly Lease[]): Promise<void> => {
      this.atMs.push(performance.now() - beganMs);
      this.leases = leases;
      return Promise.reject(new Error('no connection'));
    };
    standBy(times, extend, this.beats as never);
  }

  receive(beat: Beat): void {
    this.beats.emit('message', beat);
  }

  /** Beats at this interval for a time. */
  beat(nextMs: number, forMs: number): void {
    for (let i = 0; i < forMs / nextMs; i += 1) {
      this.receive({ kept: [], ended: [], nextMs });
      vi.advanceTimersByTime(nextMs);
    }
  }
}

/** A thread of this process that receives its beats at once. */
function threadOf(extensions: Extensions) {
  return class {
    postMessage(beat: Beat): void {
      extensions.receive(structuredClone(beat));
    }
    once = (): never => undefined as never;
    unref = (): void => undefined;
    terminate = (): Promise<number> => Promise.resolve(0);
  };
}

describe('a standby thread', () => {
  it('does nothing while the event loop is on time, also an idle one', () => {
    const extensions = new Extensions();
    extensions.beat(200, 2_000);
    extensions.beat(1_000, 10_000);
    expect(extensions.atMs).toEqual([]);
  });

  it('extends from the first late beat on, until the event loop counts as hanging', () => {
    const extensions = new Extensions();
    extensions.receive({ kept: [], ended: [], nextMs: 200 });
    vi.advanceTimersByTime(60_000);
    expect(extensions.atMs).toEqual([650, 1_100, 1_550, 2_000, 2_450, 2_900]);
  });

  it('stops with the next beat, and begins again when another one is late', () => {
    const extensions = new Extensions();
    extensions.beat(200, 200);
    vi.advanceTimersByTime(800);
    expect(extensions.atMs).toEqual([650]);
    extensions.beat(200, 2_000);
    expect(extensions.atMs).toEqual([650]);
    vi.advanceTimersByTime(450);
    expect(extensions.atMs).toHaveLength(2);
  });

  it('extends before the shortest lease ends, however late the next beat is due', () => {
    const extensions = new Extensions({ ...TIMES, lockMs: 1_100 });
    extensions.receive({ kept: [], ended: [], nextMs: 1_000 });
    vi.advanceTimersByTime(900);
    expect(extensions.atMs).toEqual([650]);
  });

  it('knows exactly the leases that the process keeps, each from its beginning', () => {
    const change = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      value: fc.string({ maxLength: 40, unit: 'grapheme' }),
      ttlMs: fc.nat(30_000),
      kind: fc.constantFrom('keep', 'drop', 'beat'),
    });
    fc.assert(
      fc.property(fc.array(change), fc.nat(20), (changes, startAt) => {
        const extensions = new Extensions();
        const standby = new Standby(SELF, undefined, new TimerWheel(), threadOf(extensions));
        const kept = new Map<string, Lease>();
        for (const [at, { kind, ...lease }] of changes.entries()) {
          if (at === startAt) vi.advanceTimersByTime(1_000);
          if (kind === 'beat') vi.advanceTimersByTime(200);
          else if (kind === 'drop') standby.drop(lease.key);
          else standby.keep(lease);
          if (kind === 'drop') kept.delete(lease.key);
          else if (kind === 'keep' && !kept.has(lease.key)) kept.set(lease.key, lease);
        }
        standby.keep({ key: 'last', value: '', ttlMs: 1 });
        kept.set('last', { key: 'last', value: '', ttlMs: 1 });
        vi.advanceTimersByTime(3_000);
        standby.close();
        vi.advanceTimersByTime(2_000);
        const byKey = (x: Lease, y: Lease): number => x.key.localeCompare(y.key);
        expect([...extensions.leases].sort(byKey)).toEqual([...kept.values()].sort(byKey));
      }),
      { numRuns: 50 },
    );
  });
});
