import { WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { Arrivals, type Clients } from './arrivals';

const REQUEST_US = 1_000;

/** Sends `count` equal requests of a millisecond each; returns their send times. */
function sent(count: number, clients: Partial<Clients>): number[] {
  const builder = new WorkloadBuilder();
  for (let row = 0; row < count; row++)
    builder.add({ arrivalUs: 0, promptTokens: 1, outputTokens: 1 });
  const all = { maxConcurrency: 4, thinkUs: 0, seed: 1, ...clients };
  const arrivals = new Arrivals(builder.build(), all);
  const sentUs: number[] = [];
  let ended = 0;
  for (let nowUs = 0; ended < count;) {
    const dueUs = arrivals.nextUs(nowUs);
    const endUs = ended < sentUs.length ? sentUs[ended]! + REQUEST_US : Infinity;
    nowUs = Math.min(dueUs, endUs);
    if (dueUs <= endUs) sentUs[arrivals.take()] = nowUs;
    else arrivals.endRequest(ended++, nowUs);
  }
  return sentUs;
}

describe('clients of a closed loop', () => {
  it('send their next request when one ends, and stay in step', () => {
    expect(sent(10, {})).toEqual([0, 0, 0, 0, 1_000, 1_000, 1_000, 1_000, 2_000, 2_000]);
  });

  it('with a think time send it later, and drift apart', () => {
    const sentUs = sent(40, { thinkUs: 500 });
    expect(new Set(sentUs.slice(4)).size).toBeGreaterThan(30);
    expect(sentUs).toEqual([...sentUs].sort((a, b) => a - b));
  });

  it('never have more requests under way than there are clients', () => {
    const sentUs = sent(200, { maxConcurrency: 3, thinkUs: 300 });
    for (const [row, us] of sentUs.entries()) {
      const underWay = sentUs.filter((other, i) => i <= row && other + REQUEST_US > us);
      expect(underWay.length).toBeLessThanOrEqual(3);
    }
  });

  it('have the given think time on average', () => {
    const sentUs = sent(4_000, { maxConcurrency: 1, thinkUs: 700 });
    const meanUs = sentUs.at(-1)! / (sentUs.length - 1) - REQUEST_US;
    // The mean of 4,000 exponential pauses is within four of its standard errors.
    expect(Math.abs(meanUs - 700)).toBeLessThan((4 * 700) / Math.sqrt(4_000));
  });

  it('have the same think times with the same seed, and others with another seed', () => {
    const once = sent(50, { thinkUs: 500 });
    expect(sent(50, { thinkUs: 500 })).toEqual(once);
    expect(sent(50, { thinkUs: 500, seed: 2 })).not.toEqual(once);
  });

  it('pause before the next turn, however often the next arrival is read', () => {
    const builder = new WorkloadBuilder();
    for (let row = 0; row < 2; row++)
      builder.add({ arrivalUs: 0, promptTokens: 1, outputTokens: 1 });
    const clients = { maxConcurrency: 1, thinkUs: 1_000_000, seed: 3 };
    const arrivals = new Arrivals(builder.build(), clients);
    expect([arrivals.take(), arrivals.nextUs(10)]).toEqual([0, Infinity]);
    arrivals.endRequest(0, 1_000);
    expect(arrivals.nextUs(1_000)).toBeGreaterThan(1_000);
  });
});
