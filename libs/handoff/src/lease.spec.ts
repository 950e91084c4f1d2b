import { type Deadline, newDeadline } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeaseBook, leaseTimes } from './lease';

describe('leaseTimes', () => {
  it('gives vLLM’s 30 s, 5 s, 20 s and 480 s by default', () => {
    expect(leaseTimes()).toEqual({
      leaseUs: 30_000_000,
      keepUs: 480_000_000,
      heartbeatEveryUs: 5_000_000,
      renewalUs: 20_000_000,
      routedUs: 30_000_000,
    });
  });

  it('gives the cluster’s own readers at least as long as outside readers', () => {
    expect(leaseTimes(6_000, 9_000, 50_000).routedUs).toBe(50_000);
    expect(leaseTimes(6_000, 9_000, 10).routedUs).toBe(6_000);
  });

  it('refuses a lease without room for heartbeats', () => {
    expect(() => leaseTimes(5)).toThrow(/too short/);
  });
});

describe('LeaseBook', () => {
  it('renews to max(old end, now + L·2/3)', () => {
    const book = new LeaseBook<string>(leaseTimes());
    const lease = newDeadline('a');
    book.open(lease, 0);
    book.renew(lease, 9_999_999);
    expect(lease.dueUs).toBe(30_000_000);
    book.renew(lease, 10_000_001);
    expect(lease.dueUs).toBe(30_000_001);
  });

  it('keeps a closed lease closed', () => {
    const book = new LeaseBook<string>(leaseTimes());
    const lease = newDeadline('a');
    book.open(lease, 0);
    book.endLease(lease);
    book.renew(lease, 25_000_000);
    expect(book.earliest()).toBeUndefined();
  });

  it('always knows the lease that ends first', () => {
    const step = fc.record({
      kind: fc.constantFrom('open', 'renew', 'close'),
      which: fc.nat(20),
      pauseUs: fc.nat(4_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const book = new LeaseBook<number>(leaseTimes(9_000));
        const leases: Deadline<number>[] = [];
        let nowUs = 0;
        for (const { kind, which, pauseUs } of steps) {
          nowUs += pauseUs;
          const lease = leases[which % Math.max(1, leases.length)];
          if (kind === 'open') {
            const opened = newDeadline(leases.length);
            leases.push(opened);
            book.open(opened, nowUs);
          } else if (lease !== undefined && kind === 'renew') book.renew(lease, nowUs);
          else if (lease !== undefined) book.endLease(lease);
          const ends = leases.filter((l) => l.chain !== undefined).map((l) => l.dueUs);
          expect(book.earliest()?.dueUs).toBe(ends.length === 0 ? undefined : Math.min(...ends));
        }
      }),
      { numRuns: 500 },
    );
  });
});
