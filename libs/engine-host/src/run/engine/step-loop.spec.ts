import { type Alarm, LiveClock } from '@baton/clock';
import type { EnginePort } from '@baton/engine';
import { describe, expect, it } from 'vitest';
import { ManualWallClock, settle } from '../../../../clock/test/manual-wall-clock';
import { EngineSlot } from './engine-slot';
import { StepLoop } from './step-loop';

/** Counts the alarms that a machine would set a timer for. */
class TimerCount extends ManualWallClock {
  timers = 0;

  override around(wallUs: number, ring: () => void): Alarm {
    this.timers += 1;
    return this.at(wallUs, ring);
  }
}

/** A loop over an engine whose steps take `stepUs`, and whose sequences need `steps` each. */
class Loop {
  readonly wall = new TimerCount();
  readonly ends: number[] = [];
  private readonly clock = new LiveClock(this.wall);
  private running: number[] = [];
  private readonly loop: StepLoop;

  constructor(
    private readonly stepUs: number,
    private readonly steps: number,
  ) {
    const engine = {
      hasWork: () => this.running.length > 0,
      isUnfinished: () => this.running.length > 0,
      snapshot: () => ({ running: this.running.length }),
      beginStep: (startUs: number) => (this.running.length > 0 ? startUs + this.stepUs : undefined),
      endStep: () => {
        this.running = this.running.map((left) => left - 1).filter((left) => left > 0);
        return {};
      },
    } as unknown as EnginePort;
    this.loop = new StepLoop({
      clock: this.clock,
      slot: new EngineSlot(() => engine),
      isPrecise: false,
      hasGrace: false,
      leadUs: 0,
    });
    this.loop.listen({
      onStep: () => this.ends.push(this.wall.nowUs()),
      onFacts: () => undefined,
      onBegun: () => undefined,
      onFormed: () => undefined,
      onReAnchor: () => undefined,
    });
  }

  /** Sequences that arrive one µs after the other, before now. */
  async arrive(sequences: number): Promise<void> {
    const nowUs = this.clock.nowUs();
    for (let i = 0; i < sequences; i += 1) {
      this.loop.enter(nowUs - sequences + i, () => this.running.push(this.steps));
    }
    await settle();
  }
}

describe('steps that take no time', () => {
  it('end without a timer, and together in one turn, when no sequence runs on', async () => {
    const loop = new Loop(0, 1);
    await loop.wall.advance(1_000);
    await loop.arrive(5);
    loop.wall.advanceAtOnce(0);
    expect(loop.ends).toHaveLength(5);
    expect(loop.wall.timers).toBe(0);
  });

  it('end by a timer each while sequences run, so that they are no busy loop', async () => {
    const loop = new Loop(0, 10);
    await loop.wall.advance(1_000);
    await loop.arrive(1);
    await loop.wall.advance(0);
    expect(loop.ends).toHaveLength(10);
    expect(loop.wall.timers).toBe(9);
  });
});

describe('an engine that is late', () => {
  it('ends its steps without timers until it has caught up', async () => {
    const loop = new Loop(2_000, 10);
    await loop.wall.advance(1_000);
    await loop.arrive(1);
    loop.wall.skip(15_000);
    await loop.wall.advance(0);
    // The first step is on time when it begins, and the eighth is the next one that is.
    expect(loop.ends).toHaveLength(7);
    expect(loop.wall.timers).toBe(2);
    await loop.wall.advance(10_000);
    expect(loop.ends).toHaveLength(10);
    expect(loop.wall.timers).toBe(4);
  });
});
