import { describe, expect, it } from 'vitest';
import { TakenJobs } from './taken-jobs';

const own = (routerId: string, ordinal: number) => ({ engineId: 'e', routerId, ordinal });

describe('TakenJobs', () => {
  it('keeps the highest ordinal of each router, in any order', () => {
    const taken = new TakenJobs();
    for (const [router, ordinal] of [
      ['a', 1],
      ['b', 1],
      ['a', 3],
      ['a', 2],
    ] as const) {
      taken.note(own(router, ordinal));
    }
    expect(taken.byRouter()).toEqual({ a: 3, b: 1 });
  });

  it('keeps the latest routers', () => {
    const taken = new TakenJobs();
    for (let i = 0; i < 64; i += 1) taken.note(own(`router-${i}`, 1));
    taken.note(own('router-0', 2));
    taken.note(own('another', 1));
    const known = taken.byRouter();
    expect(Object.keys(known)).toHaveLength(64);
    expect(known).toMatchObject({ 'router-0': 2, another: 1 });
    expect(known).not.toHaveProperty('router-1');
  });
});
