import { emptyFrameEntry, FrameWriter, readFrame } from '@baton/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualWallClock } from '../../../../libs/clock/test/manual-wall-clock';
import { DueFrames } from './due-frames';

const LEAD_US = 5_000;

interface Passed {
  readonly engineId: string;
  /** Number of the frame. */
  readonly first: number;
  readonly atUs: number;
}

/** A process whose frames are written down as they pass. */
function newProcess(): { wall: ManualWallClock; due: DueFrames; passed: Passed[] } {
  const wall = new ManualWallClock();
  const passed: Passed[] = [];
  const due = new DueFrames(wall, LEAD_US, (frame) => {
    readFrame(frame, ({ first }, { engineId }) => {
      passed.push({ engineId, first, atUs: wall.nowUs() });
    });
  });
  return { wall, due, passed };
}

function frameOf(first: number, stepEndUs: number, engineId = 'a'): Buffer {
  const writer = new FrameWriter(engineId, 'decode');
  writer.add({ ...emptyFrameEntry(), first });
  return writer.take(stepEndUs);
}

describe('frames that come before the end of their step', () => {
  it.each([
    ['early', 3_000, 3_000],
    ['on time', 0, 0],
    ['late', -7_000, 0],
    ['from a clock that is ahead', 1_000_000, LEAD_US],
  ])('%s: %i µs before its end, one passes after %i µs', async (_when, aheadUs, waitsUs) => {
    const { wall, due, passed } = newProcess();
    const startUs = wall.nowUs();
    due.take(frameOf(1, startUs + aheadUs));
    await wall.advance(2_000_000);
    expect(passed.map(({ atUs }) => atUs - startUs)).toEqual([waitsUs]);
  });

  it('do not wait when they are cut short', () => {
    const { due, passed } = newProcess();
    due.take(Buffer.alloc(3));
    due.take(Buffer.alloc(13, 0xff));
    expect(passed).toEqual([]);
  });

  it('pass at once when the process ends', () => {
    const { wall, due, passed } = newProcess();
    due.take(frameOf(1, wall.nowUs() + 2_000));
    due.stop();
    expect(passed).toHaveLength(1);
  });

  it('let work begin at once that ends before the next frame is due', () => {
    const { wall, due } = newProcess();
    expect(due.nextBefore(1_500)).toBeUndefined();
    due.take(frameOf(1, wall.nowUs() + 2_000));
    expect(due.nextBefore(1_500)).toBeUndefined();
  });

  it('pass before work that would delay them, one of several that are due soon', async () => {
    const { wall, due, passed } = newProcess();
    const startUs = wall.nowUs();
    due.take(frameOf(1, startUs + 1_000));
    due.take(frameOf(2, startUs + 1_200, 'b'));
    let passedBefore: readonly Passed[] = [];
    const begun = due.nextBefore(1_500)!.then(() => (passedBefore = [...passed]));
    await wall.advance(LEAD_US);
    await begun;
    expect(passedBefore).toEqual([{ engineId: 'a', first: 1, atUs: startUs + 1_000 }]);
  });

  it('hold no work when the process ends', async () => {
    const { wall, due } = newProcess();
    due.take(frameOf(1, wall.nowUs() + 1_000));
    const begun = due.nextBefore(1_500);
    due.stop();
    await begun;
  });

  it('pass each once, in the order of their engine, and not before they are due', async () => {
    const frame = fc.record({
      engine: fc.constantFrom('a', 'b', 'c'),
      gapUs: fc.integer({ min: 0, max: 4_000 }),
      aheadUs: fc.integer({ min: -3_000, max: 9_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 40 }), async (frames) => {
        const { wall, due, passed } = newProcess();
        const lastEndUs = new Map<string, number>();
        const dueUs: number[] = [];
        for (const [i, { engine, gapUs, aheadUs }] of frames.entries()) {
          await wall.advance(gapUs);
          const stepEndUs = Math.max(lastEndUs.get(engine) ?? 0, wall.nowUs() + aheadUs);
          lastEndUs.set(engine, stepEndUs);
          dueUs.push(Math.min(wall.nowUs() + LEAD_US, Math.max(wall.nowUs(), stepEndUs)));
          due.take(frameOf(i, stepEndUs, engine));
        }
        await wall.advance(LEAD_US);
        expect(passed).toHaveLength(frames.length);
        for (const { first, atUs } of passed) expect(atUs).toBe(dueUs[first]);
        for (const engine of ['a', 'b', 'c']) {
          const order = passed.filter(({ engineId }) => engineId === engine);
          expect(order).toEqual([...order].sort((x, y) => x.first - y.first));
        }
      }),
    );
  });
});
