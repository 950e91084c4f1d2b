import { describe, expect, it } from 'vitest';
import { ManualWallClock } from '../../../clock/test/manual-wall-clock';
import { PresenceBeacon } from './presence';

const SECOND_US = 1_000_000;

/** A beacon whose engine has the numbers of `engine`, and the messages that it sends. */
function start() {
  const wall = new ManualWallClock();
  const engine = { number: 0, otherNumber: 0, isOnBoard: true };
  const sent: string[] = [];
  const presence = {
    claimNumber: () => Promise.resolve(0),
    announceEngine: () => {
      sent.push(`announce ${engine.number}`);
      return Promise.resolve((engine.isOnBoard = true));
    },
    renewEngine: () => {
      sent.push('renew');
      return Promise.resolve(engine.isOnBoard);
    },
  };
  const beacon = new PresenceBeacon(
    ...([
      { engineId: 'e', role: 'decode', index: 0, number: 0, state: 'ready' },
      { presenceTtlMs: 3_000 },
      { presence, isConnected: true, processClock: { leaseMs: (ms: number) => ms } },
      wall,
      { fingerprint: () => `${engine.number}`, snapshot: () => ({ ...engine }) },
      { debug: () => undefined, setBindings: () => undefined },
    ] as unknown as ConstructorParameters<typeof PresenceBeacon>),
  );
  /** Advances the clock; returns the messages that are sent in that time. */
  const during = async (seconds: number): Promise<string[]> => {
    sent.length = 0;
    await wall.advance(seconds * SECOND_US);
    return [...sent];
  };
  return { beacon, engine, during };
}

describe('the presence of an engine', () => {
  it('is renewed every second while nothing changes', async () => {
    const { beacon, during } = start();
    await beacon.start();
    expect(await during(10)).toEqual(Array.from({ length: 10 }, () => 'renew'));
  });

  it('announces at every fifth renewal what has changed without an event', async () => {
    const { beacon, engine, during } = start();
    await beacon.start();
    engine.otherNumber = 1;
    const renewals = ['renew', 'renew', 'renew', 'renew'];
    expect(await during(10)).toEqual([...renewals, 'announce 0', ...renewals, 'renew']);
  });

  it('announces a change within a fifth of a second, and many five times a second', async () => {
    const { beacon, engine, during } = start();
    await beacon.start();
    engine.number = 1;
    expect(await during(0.2)).toEqual(['announce 1']);
    expect(await during(1)).toEqual(['renew']);
    for (let change = 2; change < 7; change += 1) {
      engine.number = change;
      expect(await during(0.2)).toEqual([`announce ${change}`]);
    }
  });

  it('is announced at the next check once it has run out', async () => {
    const { beacon, engine, during } = start();
    await beacon.start();
    engine.isOnBoard = false;
    expect(await during(1.2)).toEqual(['renew', 'announce 0']);
  });
});
