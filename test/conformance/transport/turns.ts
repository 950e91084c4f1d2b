import type { JobConsumer, QueueName, Transport } from '@baton/transport';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import { job, jobs, Taking, type World, type WorldFactory } from './world';

const CONSUMERS = 3;
const MOST_ROOM = 4;

/** No consumer loses its turn and no job its lock, however slow the machine is. */
const PATIENT = { deferenceMs: 60_000, stalledCheckMs: 60_000, lockMs: 600_000 };

/** Only the moment of a woken consumer brings a job to another one. */
const SHORT_MOMENT = { deferenceMs: 1, stalledCheckMs: 60_000, lockMs: 600_000 };

type Move =
  | { readonly kind: 'add'; readonly jobs: number }
  | { readonly kind: 'make-room'; readonly of: number; readonly room: number }
  | { readonly kind: 'turn'; readonly of: number; readonly isIdle: boolean };

const of = fc.nat(CONSUMERS - 1);
const add = fc.record({ kind: fc.constant('add' as const), jobs: fc.integer({ min: 1, max: 3 }) });
const room = fc.integer({ min: 1, max: MOST_ROOM });
const makeRoom = fc.record({ kind: fc.constant('make-room' as const), of, room });
const turn = fc.record({ kind: fc.constant('turn' as const), of, isIdle: fc.boolean() });
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: add },
  { weight: 3, arbitrary: makeRoom },
  { weight: 4, arbitrary: turn },
);

interface Place {
  isIdle: boolean;
  room: number;
}

/** A consumer that becomes busy when it takes. */
class Desk implements Place {
  isIdle = true;
  room = 1;
  readonly consumer: JobConsumer;

  constructor(transport: Transport, queue: QueueName, onJob: (requestId: string) => void) {
    this.consumer = transport.jobs.consume(queue, {
      room: () => this.room,
      isIdle: () => this.isIdle,
      onJob: ({ job: { requestId } }) => {
        this.isIdle = false;
        this.room -= 1;
        onJob(requestId);
      },
      onLockLost: () => undefined,
    });
  }
}

/**
 * The rule: the consumers with room and without work take first; of several, the last one that took
 * comes after the others.
 */
class Rule {
  readonly places: Place[] = Array.from({ length: CONSUMERS }, () => ({ isIdle: true, room: 1 }));
  /** Consumers by when they took last. */
  private readonly order = this.places.map((_place, at) => at);

  mayTake(): number[] {
    const open = this.order.filter((at) => this.places[at]!.room > 0);
    const idle = open.filter((at) => this.places[at]!.isIdle);
    const kind = idle.length > 0 ? idle : open;
    return kind.length > 1 ? kind.slice(0, -1) : kind;
  }

  took(at: number): void {
    this.places[at]!.isIdle = false;
    this.places[at]!.room -= 1;
    this.order.push(...this.order.splice(this.order.indexOf(at), 1));
  }
}

/** A queue with consumers, beside the rule. */
class Hall {
  private readonly rule = new Rule();
  private readonly desks: Desk[] = [];
  /** The consumer of each job. */
  private readonly takers: number[] = [];
  private added = 0;
  private checked = 0;

  constructor(
    private readonly world: World,
    private readonly queue: QueueName,
  ) {}

  async open(transports: readonly Transport[]): Promise<void> {
    for (const [at, transport] of transports.entries()) {
      const onJob = (requestId: string): void => void (this.takers[Number(requestId)] = at);
      this.desks.push(new Desk(transport, this.queue, onJob));
      await this.world.untilWaiting(this.queue, this.desks.length, 0);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.desks.map(({ consumer }) => consumer.close()));
  }

  async carryOut(next: Move, api: Transport): Promise<void> {
    if (next.kind === 'add') {
      const names = Array.from({ length: next.jobs }, () => String(this.added++));
      await api.jobs.add(
        this.queue,
        names.map((name) => job(name)),
      );
    } else {
      const { kind, of: at, ...change } = next;
      const desk = this.desks[at]!;
      if (kind === 'make-room' && desk.room >= next.room) return;
      Object.assign(desk, change);
      Object.assign(this.rule.places[at]!, change);
      desk.consumer.wake();
    }
    await this.settle();
  }

  /** Waits until everything is taken that can be, and compares the takers with the rule. */
  private async settle(): Promise<void> {
    while (this.checked < this.added && this.rule.mayTake().length > 0) {
      const number = this.checked++;
      await waitUntil(() => this.takers[number] !== undefined, { what: `job ${number} is taken` });
      const at = this.takers[number]!;
      expect(this.rule.mayTake(), `takers of job ${number}`).toContain(at);
      this.rule.took(at);
    }
    const open = this.rule.places.filter((place) => place.room > 0);
    const idle = open.filter(({ isIdle }) => isIdle).length;
    await this.world.untilWaiting(this.queue, idle, open.length - idle);
  }
}

export function describeTurns(makeWorld: WorldFactory): void {
  describe('consumers of one queue', () => {
    let world: World;
    afterEach(() => world.close());

    describe('without haste', () => {
      let transports: Transport[];
      let halls = 0;
      beforeEach(async () => {
        world = makeWorld(PATIENT);
        transports = [];
        for (let i = 0; i <= CONSUMERS; i += 1) transports.push(await world.connect());
      });

      it('take in turn, idle ones first, after any history', async () => {
        const [api, ...takers] = transports as [Transport, ...Transport[]];
        await fc.assert(
          fc.asyncProperty(fc.array(move, { minLength: 10, maxLength: 30 }), async (moves) => {
            const hall = new Hall(world, `prefill:rank-${halls++}`);
            await hall.open(takers);
            for (const next of moves) await hall.carryOut(next, api);
            await hall.close();
          }),
          // A failure can take as long as the deadline of a wait.
          { numRuns: 25, endOnFailure: true },
        );
      });

      it('share jobs that are added at once', async () => {
        const [api, ...takers] = transports as [Transport, ...Transport[]];
        const takings: Taking[] = [];
        for (const transport of takers) {
          takings.push(new Taking(transport, 'decode'));
          await world.untilWaiting('decode', 0, takings.length);
        }
        await api.jobs.add('decode', jobs(9));
        const counts = (): number[] => takings.map(({ taken }) => taken.length).sort();
        await waitUntil(() => counts().reduce((sum, one) => sum + one) === 9, { what: 'taken' });
        expect(counts()).toEqual([3, 3, 3]);
      });
    });

    it('get the jobs of one that was woken and has no room any more', async () => {
      world = makeWorld(SHORT_MOMENT);
      const api = await world.connect();
      const full = new Taking(await world.connect(), 'prefill', { isIdle: true });
      await world.untilWaiting('prefill', 1, 0);
      const busy = new Taking(await world.connect(), 'prefill');
      await world.untilWaiting('prefill', 1, 1);
      full.room = 0;
      await api.jobs.add('prefill', jobs(5));
      await busy.untilTaken(5);
      expect(full.ids).toEqual([]);
    });
  });
}
