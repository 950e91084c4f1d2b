import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FrameHeader } from '@baton/contract';
import { createLogger } from '@baton/telemetry';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Observers } from '../observers/port/observers';
import type { SequenceOwner } from './sequence';
import { WriteTurns } from './write-turns';

const LOG = createLogger({ name: 'test', level: 'silent' });
const HEADER: FrameHeader = { engineId: 'e', stage: 'decode', stepEndUs: 0 };
const TURN_US = 1_000;

/** Time stands still but for what writes cost; turns come when the test lets them. */
class FakeLoop {
  us = 0;
  turns = 0;
  private awaited: (() => void)[] = [];

  nowUs(): number {
    return this.us;
  }

  soon(turn: () => void): void {
    this.awaited.push(turn);
  }

  turn(): void {
    this.turns += 1;
    for (const turn of this.awaited.splice(0)) turn();
  }

  get isIdle(): boolean {
    return this.awaited.length === 0;
  }
}

/** Gathers tokens as an exchange does, and writes them at a cost. */
class Client implements SequenceOwner {
  chain: SequenceOwner['chain'];
  previous: SequenceOwner['previous'];
  next: SequenceOwner['next'];
  isBroken = false;
  readonly writes: number[][] = [];
  pending: number[] = [];

  constructor(private readonly onWrite: () => void) {}

  onNote(): void {}
  onTokens(): void {}
  onEnd(): void {}
  onFailure(): void {}

  onBroken(): void {
    this.isBroken = true;
  }

  flush(): void {
    this.writes.push(this.pending);
    this.pending = [];
    this.onWrite();
  }
}

function setup(count: number, costUs = 10) {
  const loop = new FakeLoop();
  const written: FrameHeader[] = [];
  const observers = new Observers([{ written: (header) => void written.push(header) }]);
  const writing = new WriteTurns(LOG, observers, loop);
  const order: Client[] = [];
  const clients = Array.from({ length: count }, () => {
    const client: Client = new Client(() => {
      loop.us += costUs;
      order.push(client);
    });
    return client;
  });
  const frame = (token: number, of: readonly Client[], header = HEADER): void => {
    for (const client of of) {
      client.pending.push(token);
      writing.add(client);
    }
    writing.frameRead(header);
  };
  return { loop, writing, clients, order, written, frame };
}

describe('writing in turns', () => {
  it('writes a frame for few streams at once', () => {
    const { clients, frame, written, writing, loop } = setup(20);
    for (const token of [0, 1, 2]) frame(token, clients);
    for (const { writes } of clients) expect(writes).toEqual([[0], [1], [2]]);
    expect(written).toHaveLength(3);
    loop.turn();
    expect(loop.isIdle).toBe(true);
    expect(writing.lateWrites).toBe(0);
  });

  it('spreads a frame for 1,000 streams over turns of bounded length', () => {
    const { clients, frame, loop, order, writing, written } = setup(1_000);
    frame(0, clients);
    const atOnce = order.length;
    expect(atOnce).toBe(TURN_US / 10);
    while (!loop.isIdle) {
      const before = order.length;
      expect(written).toHaveLength(before < 1_000 ? 0 : 1);
      loop.turn();
      expect(order.length - before).toBeLessThanOrEqual(TURN_US / 10);
    }
    expect(order).toEqual(clients);
    expect(written).toEqual([HEADER]);
    expect(writing.lateWrites).toBe(1_000 - atOnce);
  });

  it('writes no more in one turn when several frames come in it', () => {
    const { clients, frame, order } = setup(400);
    for (let from = 0; from < 400; from += 40) frame(0, clients.slice(from, from + 40));
    expect(order).toHaveLength(TURN_US / 10);
  });

  it('writes one stream per turn when a single write takes longer than a turn', () => {
    const { clients, frame, order, loop } = setup(3, 5 * TURN_US);
    frame(0, clients);
    loop.turn();
    loop.turn();
    expect(order).toEqual(clients);
  });

  it('writes all that a late stream has gathered at once, in the place that it took first', () => {
    const { clients, frame, order, loop } = setup(250);
    const [last] = clients.slice(-1);
    for (const token of [0, 1, 2]) frame(token, clients);
    while (!loop.isIdle) loop.turn();
    expect(last!.writes).toEqual([[0, 1, 2]]);
    expect(clients[0]!.writes).toEqual([[0], [1, 2]]);
    expect(order.slice(0, 250)).toEqual(clients);
  });

  it('goes on when one of the answers cannot be written', () => {
    const { clients, frame } = setup(3);
    const [first, second, third] = clients;
    second!.flush = () => {
      throw new TypeError('broken');
    };
    frame(0, clients);
    expect(clients.map(({ isBroken }) => isBroken)).toEqual([false, true, false]);
    expect([first!.writes, third!.writes]).toEqual([[[0]], [[0]]]);
  });

  it('loses, repeats and reorders no token, whatever frames come between which turns', () => {
    const step = fc.record({
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      turns: fc.nat(3),
      costUs: fc.constantFrom(1, 20, 400, 3_000),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), fc.nat(), (steps, seed) => {
        const { clients, frame, loop, written, writing } = setup(60);
        const due: number[][] = clients.map(() => []);
        const headers: FrameHeader[] = [];
        for (const [token, { share, turns, costUs }] of steps.entries()) {
          const of = clients.filter((_, i) => ((i * 7_919 + seed + token * 31) % 60) / 60 < share);
          for (const client of of) due[clients.indexOf(client)]!.push(token);
          loop.us += costUs;
          if (of.length > 0) {
            headers.push({ ...HEADER, stepEndUs: token });
            frame(token, of, headers.at(-1));
          }
          for (let turn = 0; turn < turns; turn += 1) loop.turn();
        }
        while (!loop.isIdle) loop.turn();
        expect(clients.map(({ writes }) => writes.flat())).toEqual(due);
        expect(written).toEqual(headers);
        expect(clients.every(({ chain }) => chain === undefined)).toBe(true);
        expect(writing.writes).toBe(clients.reduce((sum, { writes }) => sum + writes.length, 0));
      }),
      { numRuns: 300, verbose: true },
    );
  });

  it('lets a new connection be answered while there is always more to write', async () => {
    const server = createServer((_message, response) => response.end('here'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    let isAnswered = false;
    const loop = new FakeLoop();
    const soon = (turn: () => void): void => void setImmediate(turn);
    const writing = new WriteTurns(LOG, new Observers([]), { nowUs: () => loop.us, soon });
    const greedy = new Client(() => {
      loop.us += TURN_US;
      // Bounded, so that a writer that never pauses fails here and does not hang.
      if (!isAnswered && greedy.writes.length < 1_000_000) writing.add(greedy);
    });
    const answer = fetch(`http://127.0.0.1:${port}/`).then((each) => each.text());
    writing.add(greedy);
    writing.frameRead(HEADER);
    expect(await answer).toBe('here');
    isAnswered = true;
    expect(greedy.writes.length).toBeGreaterThan(1);
    expect(greedy.writes.length).toBeLessThan(1_000_000);
    server.close();
    server.closeAllConnections();
  });
});
