import { hashString } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import type { EngineView } from './policy';
import { SessionSticky } from './session-sticky';
import {
  engineView,
  idleEngines,
  placementContext,
  placementRequest,
} from '../../test/test-context';

const SESSIONS = Array.from({ length: 2_000 }, (_, i) => hashString(`session ${i}`));

const unbounded = () => new SessionSticky({ kind: 'session-sticky', loadFactor: Infinity });

function placed(policy: SessionSticky, engines: readonly EngineView[]) {
  return SESSIONS.map((sessionKey) => {
    const context = placementContext({ engines, request: placementRequest({ sessionKey }) });
    return engines[policy.choose(context)]!.engineId;
  });
}

const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), {
  minLength: 2,
  maxLength: 12,
});

/** A session that the ring of e0 and e1 gives to the engine of this index. */
function sessionOf(engine: number): number {
  const engines = [0, 1].map((i) => engineView({ engineId: `e${i}` }));
  const at = placed(unbounded(), engines).indexOf(`e${engine}`);
  return SESSIONS[at]!;
}

describe('SessionSticky', () => {
  it('gives every engine about its share of sessions', () => {
    const counts = new Map<string, number>();
    for (const id of placed(unbounded(), idleEngines(8))) counts.set(id, (counts.get(id) ?? 0) + 1);
    for (const count of counts.values()) expect(Math.abs(count / 250 - 1)).toBeLessThan(0.35);
    expect(counts.size).toBe(8);
  });

  it('moves only the share of the engine that joins or leaves', () => {
    fc.assert(
      fc.property(names, fc.nat(), (ids, at) => {
        const all = ids.map((engineId) => engineView({ engineId }));
        const moving = ids[at % ids.length]!;
        const fewer = all.filter(({ engineId }) => engineId !== moving);
        const policy = unbounded();
        const before = placed(policy, all);
        const after = placed(policy, fewer);
        for (const [i, id] of before.entries()) {
          // Its sessions move, all others stay; read backwards this is the law for joining.
          if (id === moving) expect(after[i]).not.toBe(moving);
          else expect(after[i]).toBe(id);
        }
        expect(placed(policy, all)).toEqual(before);
      }),
      { numRuns: runsOf(30) },
    );
  });

  it('does not depend on the order in which engines are named', () => {
    const engines = idleEngines(5);
    expect(placed(unbounded(), engines.toReversed())).toEqual(placed(unbounded(), engines));
  });

  it('lets no engine exceed the limit of its load', () => {
    const requests = fc.array(fc.nat(50), { minLength: 1, maxLength: 12 });
    const key = fc.integer({ min: 1, max: 1e9 });
    fc.assert(
      fc.property(requests, key, (counts, sessionKey) => {
        const engines = counts.map((count, i) =>
          engineView({ engineId: `e${i}`, requests: count }),
        );
        const policy = new SessionSticky({ kind: 'session-sticky' });
        const context = placementContext({ engines, request: placementRequest({ sessionKey }) });
        const chosen = policy.choose(context);
        const all = counts.reduce((sum, count) => sum + count, 1);
        const bound = Math.max(8, Math.ceil((1.25 * all) / counts.length));
        expect(counts[chosen]! + 1).toBeLessThanOrEqual(bound);
      }),
    );
  });

  it('keeps a session on its engine while that has few requests, and moves it beyond', () => {
    const policy = new SessionSticky({ kind: 'session-sticky' });
    const choose = (requests: number) =>
      policy.choose(
        placementContext({
          engines: [requests, 0].map((count, i) =>
            engineView({ engineId: `e${i}`, requests: count }),
          ),
          request: placementRequest({ sessionKey: sessionOf(0) }),
        }),
      );
    expect([0, 3, 7, 8, 20].map(choose)).toEqual([0, 0, 0, 1, 1]);
  });

  it('sends requests without a session to the engine with the fewest requests', () => {
    const engines = [3, 1, 2].map((requests, i) => engineView({ engineId: `e${i}`, requests }));
    expect(unbounded().choose(placementContext({ engines }))).toBe(1);
  });
});
