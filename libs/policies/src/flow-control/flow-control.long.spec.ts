import { RandomStream } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { builtInPolicy, FLOW_POLICY_KINDS, type FlowPolicyKind } from './built-in';
import { type DropReason, FlowControl, type FlowLimits, type Ticket } from './flow-control';
import type { SloClass } from './slo-class';

const INTERACTIVE: SloClass = { name: 'interactive', priority: 1, weight: 3, ttftUs: 500 };
const BATCH: SloClass = { name: 'batch', priority: 2, weight: 1 };
const LIMITS: FlowLimits = { perFlow: 1_000, total: 1_000, timeoutUs: 1_000_000 };

interface Sent {
  readonly name: string;
  readonly sloClass: SloClass;
  readonly tenant?: string;
  readonly promptTokens?: number;
}

/** A flow control with a gate of this capacity, and the outcomes of its requests. */
class Scene {
  readonly passed: string[] = [];
  readonly dropped: [string, DropReason][] = [];
  readonly tickets = new Map<string, Ticket<string>>();
  readonly control: FlowControl<string>;
  capacity = 1;

  constructor(kind: FlowPolicyKind, limits: Partial<FlowLimits> = {}) {
    const all = { ...LIMITS, ...limits };
    const policy = builtInPolicy(kind, all.timeoutUs);
    this.control = new FlowControl(policy, all, () => this.capacity, {
      onPass: ({ item }) => this.passed.push(item),
      onDrop: ({ item }, why) => this.dropped.push([item, why]),
    });
  }

  send({ name, sloClass, tenant = 'a', promptTokens = 10 }: Sent, nowUs = 0): void {
    this.tickets.set(name, this.control.offer(name, { sloClass, tenant, promptTokens }, nowUs));
  }

  end(name: string, nowUs = 0, outputTokens = 0): void {
    this.control.endRequest(this.tickets.get(name)!, outputTokens);
    this.control.releaseWaiting(nowUs);
  }

  /** Ends requests under way one after the other until none waits. */
  drain(nowUs = 0): readonly string[] {
    for (let next = 0; next < this.passed.length; next++) this.end(this.passed[next]!, nowUs);
    return this.passed;
  }
}

describe('flow control', () => {
  it('lets requests pass at once while the gate is open', () => {
    const scene = new Scene('wfq');
    scene.capacity = 3;
    for (const name of ['x', 'y', 'z', 'late']) scene.send({ name, sloClass: BATCH });
    expect(scene.passed).toEqual(['x', 'y', 'z']);
    expect(scene.control.waiting).toBe(1);
  });

  it('serves the strict priority of classes, and tenants of a class in turn', () => {
    const scene = new Scene('priority');
    scene.send({ name: 'first', sloClass: BATCH });
    scene.send({ name: 'b1', sloClass: BATCH });
    for (const name of ['i1', 'i2', 'i3']) scene.send({ name, sloClass: INTERACTIVE });
    scene.send({ name: 'other', sloClass: INTERACTIVE, tenant: 'b' });
    expect(scene.drain()).toEqual(['first', 'i1', 'other', 'i2', 'i3', 'b1']);
  });

  it('serves the earliest deadline first: arrival plus TTFT target, or the timeout without one', () => {
    const scene = new Scene('edf', { timeoutUs: 800 });
    scene.send({ name: 'first', sloClass: BATCH });
    scene.send({ name: 'batch at 0', sloClass: BATCH });
    scene.send({ name: 'interactive at 200', sloClass: INTERACTIVE }, 200);
    scene.send({ name: 'interactive at 400', sloClass: INTERACTIVE }, 400);
    expect(scene.drain(500)).toEqual([
      ...['first', 'interactive at 200', 'batch at 0', 'interactive at 400'],
    ]);
  });

  it('shares the service by weight under wfq: 3 to 1', () => {
    const scene = new Scene('wfq');
    for (let i = 0; i < 40; i++) {
      scene.send({ name: `i${i}`, sloClass: INTERACTIVE });
      scene.send({ name: `b${i}`, sloClass: BATCH });
    }
    const first = scene.drain().slice(0, 40);
    expect(first.filter((name) => name.startsWith('i'))).toHaveLength(30);
  });

  it('counts output twice, when a request has ended', () => {
    const scene = new Scene('priority');
    scene.send({ name: 'a1', sloClass: BATCH });
    for (const name of ['a2', 'a3']) scene.send({ name, sloClass: BATCH });
    for (const name of ['b1', 'b2', 'b3', 'b4', 'b5']) {
      scene.send({ name, sloClass: BATCH, tenant: 'b' });
    }
    // 10 of a prompt and 2 · 15 of output: as much as four prompts of the other tenant.
    scene.end('a1', 0, 15);
    expect(scene.drain().slice(1, 5)).toEqual(['b1', 'b2', 'b3', 'b4']);
  });

  it('rejects requests of a full queue, and the newest of a lower class when all are full', () => {
    const scene = new Scene('priority', { perFlow: 2, total: 3 });
    scene.send({ name: 'under way', sloClass: BATCH });
    for (const name of ['b1', 'b2', 'b3']) scene.send({ name, sloClass: BATCH });
    scene.send({ name: 'c1', sloClass: BATCH, tenant: 'c' });
    scene.send({ name: 'c2', sloClass: BATCH, tenant: 'c' });
    scene.send({ name: 'i1', sloClass: INTERACTIVE });
    expect(scene.dropped).toEqual([
      ['b3', 'full'],
      ['c2', 'full'],
      ['b2', 'shed'],
    ]);
    expect(scene.drain()).toEqual(['under way', 'i1', 'c1', 'b1']);
  });

  it('rejects requests that have waited too long, and drops those of gone clients', () => {
    const scene = new Scene('fcfs', { timeoutUs: 100 });
    scene.send({ name: 'under way', sloClass: BATCH });
    scene.send({ name: 'late', sloClass: BATCH }, 10);
    scene.send({ name: 'left', sloClass: BATCH }, 20);
    expect(scene.control.nextTimeoutUs).toBe(110);
    scene.control.withdraw(scene.tickets.get('left')!);
    scene.control.releaseWaiting(110);
    expect(scene.dropped).toEqual([['late', 'timeout']]);
    expect(scene.control.nextTimeoutUs).toBe(Infinity);
    scene.end('under way', 120);
    expect(scene.passed).toEqual(['under way']);
  });
});

interface Move {
  readonly kind: 'send' | 'end' | 'leave' | 'wait';
  readonly at: number;
  readonly tokens: number;
}

const MOVES = fc.array(
  fc.record<Move>({
    kind: fc.constantFrom('send', 'send', 'end', 'leave', 'wait'),
    at: fc.nat(1_000),
    tokens: fc.integer({ min: 1, max: 100 }),
  }),
  { minLength: 20, maxLength: 200 },
);

describe('flow control under random requests', () => {
  it.each(FLOW_POLICY_KINDS)('INV-14 %s: the gate idles only when nothing waits', (kind) => {
    fc.assert(
      fc.property(MOVES, fc.integer({ min: 1, max: 5 }), (moves, capacity) => {
        const scene = new Scene(kind, { perFlow: 6, total: 12, timeoutUs: 2_000 });
        scene.capacity = capacity;
        const { control } = scene;
        let nowUs = 0;
        moves.forEach((move, i) => {
          nowUs += move.kind === 'wait' ? move.at : 1;
          play(scene, { ...move, nowUs, name: `r${i}` });
          expect(control.underWay).toBeLessThanOrEqual(capacity);
          if (control.waiting > 0) expect(control.underWay).toBe(capacity);
          expect(control.waiting).toBeLessThanOrEqual(12);
          for (const { waitingRequests } of control.queues) {
            expect(waitingRequests).toBeLessThanOrEqual(6);
            expect(waitingRequests).toBeGreaterThan(0);
          }
          expect(control.nextTimeoutUs).toBeGreaterThan(nowUs);
        });
        const states = [...scene.tickets.values()].map(({ state }) => state);
        const count = (wanted: string): number => states.filter((each) => each === wanted).length;
        expect(count('waiting')).toBe(control.waiting);
        expect(count('under way')).toBe(control.underWay);
      }),
      { verbose: true },
    );
  });

  it('INV-14 wfq: two flows that always wait differ by at most one request of each', () => {
    const weights = fc.integer({ min: 1, max: 9 });
    const lengths = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 30, maxLength: 30 });
    fc.assert(
      fc.property(weights, weights, lengths, lengths, (w1, w2, first, second) => {
        const classes = [
          { name: 'a', priority: 0, weight: w1 },
          { name: 'b', priority: 0, weight: w2 },
        ] as const;
        const scene = new Scene('wfq');
        scene.send({ name: 'busy', sloClass: { name: 'c', priority: 0, weight: 1 } });
        [first, second].forEach((tokens, which) =>
          tokens.forEach((promptTokens, i) => {
            scene.send({ name: `${which} ${i}`, sloClass: classes[which]!, promptTokens });
          }),
        );
        const bound = Math.max(...first) / w1 + Math.max(...second) / w2;
        const had = [0, 0];
        for (let next = 0; had[0]! < 30 && had[1]! < 30; next++) {
          scene.end(scene.passed[next]!);
          const which = Number(scene.passed[next + 1]!.split(' ')[0]);
          had[which]! += 1;
          const service = (list: number[], count: number): number =>
            list.slice(0, count).reduce((sum, tokens) => sum + tokens, 0);
          const apart = service(first, had[0]!) / w1 - service(second, had[1]!) / w2;
          expect(Math.abs(apart)).toBeLessThanOrEqual(bound + 1e-9);
        }
      }),
      { verbose: true },
    );
  });

  it('INV-14 priority and edf: no request passes before one that precedes it', () => {
    const seeds = fc.integer({ min: 0, max: 2 ** 31 });
    fc.assert(
      fc.property(seeds, fc.constantFrom('priority', 'edf', 'fcfs'), (seed, kind) => {
        const random = RandomStream.root(seed);
        const scene = new Scene(kind, { timeoutUs: 100_000 });
        scene.send({ name: 'busy', sloClass: BATCH });
        const keys = new Map<string, number>();
        for (let i = 0; i < 30; i++) {
          const sloClass = random.unit() < 0.5 ? INTERACTIVE : BATCH;
          const nowUs = i * 10_000;
          const name = `r${i}`;
          scene.send({ name, sloClass, tenant: `t${random.integer(3)}` }, i);
          const deadline = i + (sloClass.ttftUs ?? 100_000);
          keys.set(name, { priority: sloClass.priority, edf: deadline, fcfs: nowUs }[kind]);
        }
        const order = scene.drain(50).slice(1);
        expect(order).toHaveLength(30);
        const passed = order.map((name) => keys.get(name)!);
        expect(passed).toEqual([...passed].sort((a, b) => a - b));
      }),
      { verbose: true },
    );
  });
});

function play(scene: Scene, move: Move & { nowUs: number; name: string }): void {
  const { control, tickets } = scene;
  const { kind, at, tokens, nowUs, name } = move;
  const sloClass = at % 2 === 0 ? INTERACTIVE : BATCH;
  const in_ = (state: string): string | undefined =>
    [...tickets].filter(([, ticket]) => ticket.state === state).map(([each]) => each)[at % 7];
  if (kind === 'send')
    scene.send({ name, sloClass, tenant: `t${at % 3}`, promptTokens: tokens }, nowUs);
  const ending = kind === 'end' ? in_('under way') : undefined;
  if (ending !== undefined) scene.end(ending, nowUs, tokens);
  const leaving = kind === 'leave' ? in_('waiting') : undefined;
  if (leaving !== undefined) control.withdraw(tickets.get(leaving)!);
  control.releaseWaiting(nowUs);
}
