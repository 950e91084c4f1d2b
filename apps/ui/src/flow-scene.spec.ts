import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterModel, RequestState } from './cluster-model';
import { type FlowBoxes, FlowScene } from './flow-scene';
import { type Box, gridFor, spotOf } from './grid';
import { SlotBook } from './slot-book';

const BOXES: FlowBoxes = {
  queue: { x: 0, y: 0, width: 100, height: 100 },
  transfer: { x: 300, y: 0, width: 100, height: 100 },
  lanes: new Map([
    ['p', { x: 120, y: 0, width: 150, height: 30 }],
    ['d', { x: 420, y: 0, width: 300, height: 30 }],
  ]),
  exitX: 800,
};

function request(key: number, more: Partial<RequestState> = {}): RequestState {
  return {
    key,
    name: `r${key}`,
    promptTokens: 1,
    maxTokens: 10,
    phase: 'queue' as const,
    engine: undefined,
    tokens: 0,
    isCounted: false,
    seenMs: 0,
    phaseMs: 0,
    ...more,
  };
}

function modelOf(...requests: RequestState[]): ClusterModel {
  return { requests: new Map(requests.map((each) => [each.key, each])) } as unknown as ClusterModel;
}

function isWithin({ x, y, width, height }: Box, at: { x: number; y: number }): boolean {
  return at.x >= x - 1 && at.x <= x + width && at.y >= y - 1 && at.y <= y + height;
}

/** Advances the scene until it is at rest. */
function rest(scene: FlowScene): void {
  for (let frame = 0; frame < 1_000 && scene.advance(16); frame += 1);
}

describe('the scene', () => {
  it('moves each dot into the box of its request', () => {
    const scene = new FlowScene();
    const lane = { phase: 'decode', engine: 'd', tokens: 4 } as const;
    scene.update(modelOf(request(1), request(2, { phase: 'transfer' }), request(3, lane)), BOXES);
    rest(scene);
    expect(isWithin(BOXES.queue, scene.dots.get(1)!)).toBe(true);
    expect(isWithin(BOXES.transfer!, scene.dots.get(2)!)).toBe(true);
    expect(isWithin(BOXES.lanes.get('d')!, scene.dots.get(3)!)).toBe(true);
    expect(scene.dots.get(3)!.progress).toBe(0.4);
  });

  it('moves a dot in small steps, and not beyond its target', () => {
    const scene = new FlowScene();
    scene.update(modelOf(request(1)), BOXES);
    rest(scene);
    scene.update(modelOf(request(1, { phase: 'decode', engine: 'd' })), BOXES);
    const dot = scene.dots.get(1)!;
    let before = dot.x;
    while (scene.advance(16)) {
      expect(dot.x).toBeGreaterThanOrEqual(before);
      expect(dot.x).toBeLessThanOrEqual(dot.toX);
      before = dot.x;
    }
    expect(dot.x).toBe(dot.toX);
  });

  it('removes the dots of ended requests, and comes to rest', () => {
    const scene = new FlowScene();
    scene.update(modelOf(request(1)), BOXES);
    rest(scene);
    scene.update(modelOf(), BOXES);
    expect(scene.dots.get(1)).toMatchObject({ phase: 'ended', toX: 800 });
    rest(scene);
    expect(scene.dots.size).toBe(0);
  });

  it('jumps instead of moving with reduced motion', () => {
    const scene = new FlowScene();
    scene.isStill = true;
    scene.update(modelOf(request(1)), BOXES);
    expect(scene.dots.get(1)).toMatchObject({ alpha: 1 });
    scene.update(modelOf(request(1, { phase: 'decode', engine: 'd' })), BOXES);
    expect(scene.advance(16)).toBe(false);
    expect(scene.dots.get(1)!.x).toBe(scene.dots.get(1)!.toX);
    scene.update(modelOf(), BOXES);
    expect(scene.dots.size).toBe(0);
  });

  it('draws a request in the queue when its engine is not shown', () => {
    const scene = new FlowScene();
    scene.update(modelOf(request(1, { phase: 'prefill', engine: 'gone' })), BOXES);
    rest(scene);
    expect(isWithin(BOXES.queue, scene.dots.get(1)!)).toBe(true);
  });

  it('finds the dot at a point', () => {
    const scene = new FlowScene();
    scene.update(modelOf(request(1), request(2)), BOXES);
    rest(scene);
    const { x, y, size } = scene.dots.get(2)!;
    expect(scene.at(x + size / 2, y + size / 2)!.key).toBe(2);
    expect(scene.at(790, 90)).toBeUndefined();
  });

  it('has at most the number of dots that can be drawn', () => {
    const scene = new FlowScene();
    scene.update(modelOf(...Array.from({ length: 9_000 }, (_none, key) => request(key))), BOXES);
    expect(scene.dots.size).toBe(6_000);
  });
});

describe('a grid', () => {
  it('keeps every dot in its box, without overlap while there is room', () => {
    const box = fc.record({
      x: fc.integer({ min: 0, max: 500 }),
      y: fc.integer({ min: 0, max: 500 }),
      width: fc.integer({ min: 10, max: 600 }),
      height: fc.integer({ min: 10, max: 300 }),
    });
    fc.assert(
      fc.property(box, fc.integer({ min: 1, max: 400 }), (area, count) => {
        const grid = gridFor(area, count);
        const spots = Array.from({ length: count }, (_none, slot) => spotOf(grid, slot));
        for (const spot of spots) expect(isWithin(area, spot)).toBe(true);
        const places = new Set(spots.map(({ x, y }) => `${x},${y}`));
        expect(places.size).toBe(Math.min(count, grid.capacity));
      }),
    );
  });

  it('draws few dots larger than many', () => {
    const box = { x: 0, y: 0, width: 200, height: 40 };
    expect(spotOf(gridFor(box, 5), 0).size).toBeGreaterThan(spotOf(gridFor(box, 300), 0).size);
  });
});

describe('a book of slots', () => {
  it('gives each request a slot of its own, and reuses the first free one', () => {
    const book = new SlotBook();
    expect([10, 11, 12, 13].map((key) => book.of(key))).toEqual([0, 1, 2, 3]);
    book.keep(new Set([11, 13]));
    expect([book.of(11), book.of(20), book.of(21), book.of(22)]).toEqual([1, 0, 2, 4]);
    expect([book.size, book.extent]).toEqual([5, 5]);
    book.keep(new Set());
    expect([book.size, book.extent, book.of(1)]).toEqual([0, 0, 0]);
  });
});
