import type { HandoffWorld } from './handoff-world';

/** The operations of a scenario on the world, each with two numbers that choose its targets. */
export const OPERATIONS = {
  hold: (world: HandoffWorld, a: number, b: number) => world.hold(a, b),
  keep: (world: HandoffWorld, a: number, b: number) => world.hold(a, b, true),
  accept: (world: HandoffWorld, a: number, b: number) => world.take('accepted', a, b),
  reject: (world: HandoffWorld, a: number, b: number) => world.take('rejected', a, b),
  reserve: (world: HandoffWorld, a: number, b: number) => world.reserveOne(a, b),
  finish: (world: HandoffWorld, a: number) => world.finishOne(a),
  deliver: (world: HandoffWorld) => world.deliver(0),
  reorder: (world: HandoffWorld, a: number) => world.deliver(a),
  duplicate: (world: HandoffWorld, a: number) => world.duplicate(a),
  drop: (world: HandoffWorld, a: number) => world.drop(a),
  abort: (world: HandoffWorld, a: number, b: number) => world.abort(a, b),
  supersede: (world: HandoffWorld, a: number, b: number) => world.supersede(a, b),
  restart: (world: HandoffWorld, a: number) => world.restartSource(a),
  repeat: (world: HandoffWorld, a: number) => world.repeatOld(a),
  pause: (world: HandoffWorld, a: number) => world.advance(a % 400),
  wait: (world: HandoffWorld, a: number) => world.advance((a * 37) % 25_000),
};

export type Operation = keyof typeof OPERATIONS;

export interface Step {
  readonly op: Operation;
  readonly a: number;
  readonly b: number;
}

/** Runs a scenario, then lets all work end. */
export function play(world: HandoffWorld, scenario: readonly Step[]): void {
  for (const { op, a, b } of scenario) {
    OPERATIONS[op](world, a, b);
    world.checkLiveness();
  }
  world.drain();
  world.checkTheBooks();
}
