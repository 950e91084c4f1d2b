import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServerQueue } from './server-queue';

interface Coming {
  readonly gapUs: number;
  readonly busyUs: number;
}

const coming = fc.array(
  fc.record({ gapUs: fc.integer({ min: 0, max: 20 }), busyUs: fc.integer({ min: 0, max: 30 }) }),
  { minLength: 1, maxLength: 60 },
);

describe('servers in front of the engines', () => {
  it('begin one request after the other when there is one server', () => {
    const queue = new ServerQueue();
    const begin = (nowUs: number) => queue.begin(nowUs, { busyUs: 10, servers: 1 });
    expect([begin(0), begin(0), begin(5), begin(100)]).toEqual([0, 10, 20, 100]);
  });

  it('begin as many at once as there are servers', () => {
    const queue = new ServerQueue();
    const begin = (nowUs: number) => queue.begin(nowUs, { busyUs: 10, servers: 2 });
    expect([begin(0), begin(1), begin(2), begin(3)]).toEqual([0, 1, 10, 11]);
  });

  it('finish their requests when there are fewer servers', () => {
    const queue = new ServerQueue();
    for (const busyUs of [10, 20]) queue.begin(0, { busyUs, servers: 2 });
    expect(queue.begin(0, { busyUs: 5, servers: 1 })).toBe(20);
  });

  it('never keep a request waiting while a server is free, and serve one request each', () => {
    fc.assert(
      fc.property(coming, fc.integer({ min: 1, max: 4 }), (requests, servers) => {
        const served = serve(requests, servers);
        for (const { nowUs, startUs } of served) {
          const before = served.filter((other) => other.startUs <= startUs);
          const occupied = before.filter(({ endUs }) => endUs > startUs).length;
          expect(occupied).toBeLessThanOrEqual(servers);
          if (startUs > nowUs) expect(served.some(({ endUs }) => endUs === startUs)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('begin requests in the order in which they come', () => {
    fc.assert(
      fc.property(coming, fc.integer({ min: 1, max: 4 }), (requests, servers) => {
        const starts = serve(requests, servers).map(({ startUs }) => startUs);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });
});

function serve(requests: readonly Coming[], servers: number) {
  const queue = new ServerQueue();
  let nowUs = 0;
  return requests
    .filter(({ busyUs }) => busyUs > 0)
    .map(({ gapUs, busyUs }) => {
      nowUs += gapUs;
      const startUs = queue.begin(nowUs, { busyUs, servers });
      return { nowUs, startUs, endUs: startUs + busyUs };
    });
}
