import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type QueueTaker, TakingOrder } from './taking-order';

/** Room that shrinks with time, until something happens to the engine. */
class Desk implements QueueTaker {
  isIdle = true;
  lastTurn = 0;
  takesIn: TakingOrder<this> | undefined = undefined;
  isPassedOver = false;
  fullFromUs = 0;
  questions = 0;

  constructor(readonly index: number) {}

  hasRoom(nowUs: number): boolean {
    this.questions++;
    return nowUs < this.fullFromUs;
  }

  change(fullFromUs: number): void {
    if (this.isPassedOver) this.takesIn?.onChange(this);
    this.fullFromUs = fullFromUs;
  }

  turnIdle(isIdle: boolean): void {
    this.isIdle = isIdle;
    this.takesIn?.onChange(this);
  }
}

/** The plain form of the rule. */
class LinearOrder {
  private desks: Desk[] = [];

  add(desk: Desk): void {
    this.desks.push(desk);
  }

  remove(desk: Desk): void {
    this.desks = this.desks.filter((one) => one !== desk);
  }

  took(desk: Desk): void {
    this.remove(desk);
    this.add(desk);
  }

  next(nowUs: number): Desk | undefined {
    const open = this.desks.filter((desk) => nowUs < desk.fullFromUs);
    return open.find(({ isIdle }) => isIdle) ?? open[0];
  }
}

const ENGINES = 12;

const move = fc.record({
  kind: fc.constantFrom('change', 'change', 'turn', 'take', 'take', 'take', 'leave-or-join'),
  engine: fc.nat(ENGINES - 1),
  passUs: fc.nat(3),
  roomForUs: fc.nat(12),
});

describe('the order in which engines take requests', () => {
  it('equals that of a scan from the longest waiting engine, idle ones first, after any history', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 300 }), (moves) => {
        const desks = Array.from({ length: ENGINES }, (_none, index) => new Desk(index));
        const present = new Set<Desk>(desks);
        const order = new TakingOrder<Desk>();
        const linear = new LinearOrder();
        for (const desk of desks) {
          order.add(desk);
          linear.add(desk);
        }
        let nowUs = 0;
        for (const { kind, engine, passUs, roomForUs } of moves) {
          nowUs += passUs;
          const desk = desks[engine]!;
          if (kind === 'change') desk.change(nowUs + roomForUs);
          else if (kind === 'turn') desk.turnIdle(!desk.isIdle);
          else if (kind === 'take') {
            const taker = order.next(nowUs);
            expect(taker?.index).toBe(linear.next(nowUs)?.index);
            if (taker === undefined) continue;
            order.moveToEnd(taker);
            linear.took(taker);
          } else if (present.delete(desk)) {
            order.remove(desk);
            linear.remove(desk);
          } else {
            present.add(desk);
            order.add(desk);
            linear.add(desk);
          }
        }
      }),
    );
  });

  it('checks a full engine again only after an event of it', () => {
    const desks = Array.from({ length: 100 }, (_none, index) => new Desk(index));
    const order = new TakingOrder<Desk>();
    for (const desk of desks) order.add(desk);
    for (let us = 0; us < 50; us++) expect(order.next(us)).toBeUndefined();
    expect(desks.every(({ questions }) => questions === 1)).toBe(true);
    desks[70]!.change(99);
    expect(order.next(60)).toBe(desks[70]);
    expect(desks.reduce((sum, { questions }) => sum + questions, 0)).toBe(101);
  });
});
