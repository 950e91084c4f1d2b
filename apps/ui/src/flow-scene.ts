import type { PicturePhase } from '@baton/contract';
import type { ClusterModel, RequestState } from './cluster-model';
import { type Box, type DotGrid, gridFor, spotOf } from './grid';
import { SlotBook } from './slot-book';

/** Time constant of a dot's movement, and of the fading of an ended one, in ms. */
const EASE_MS = 130;
const FADE_MS = 450;
/** Distance in CSS pixels below which a dot is at its target. */
const CLOSE = 0.4;
const MOST_DOTS = 6_000;

export interface Dot {
  readonly key: number;
  x: number;
  y: number;
  toX: number;
  toY: number;
  size: number;
  phase: PicturePhase | 'ended';
  /** Share of the expected output that has arrived, 0..1. */
  progress: number;
  /** 0..1. */
  alpha: number;
}

/** The boxes of requests, in the coordinates of the drawing. */
export interface FlowBoxes {
  readonly queue: Box;
  readonly transfer: Box | undefined;
  /** By engine id. */
  readonly lanes: ReadonlyMap<string, Box>;
  /** Dots of ended requests leave to this position. */
  readonly exitX: number;
}

/**
 * The requests as dots that move from box to box. It computes positions over time and draws
 * nothing.
 */
export class FlowScene {
  readonly dots = new Map<number, Dot>();
  private readonly books = new Map<string, SlotBook>();
  /** Whether animation is off: dots jump to their targets. */
  isStill = false;

  /** Sets the target of each dot to the place of its request. */
  update(model: ClusterModel, boxes: FlowBoxes): void {
    const byBox = this.sort(model, boxes);
    for (const [name, { box, requests }] of byBox) this.place(name, box, requests);
    for (const name of this.books.keys()) if (!byBox.has(name)) this.books.delete(name);
    for (const dot of this.dots.values()) {
      if (dot.phase !== 'ended' && !model.requests.has(dot.key)) this.leave(dot, boxes);
    }
  }

  /** Advances all dots by `ms`. False: all dots are at rest. */
  advance(ms: number): boolean {
    let isMoving = false;
    const share = this.isStill ? 1 : 1 - Math.exp(-ms / EASE_MS);
    for (const dot of this.dots.values()) {
      dot.x += (dot.toX - dot.x) * share;
      dot.y += (dot.toY - dot.y) * share;
      if (dot.phase === 'ended') {
        dot.alpha -= ms / FADE_MS;
        if (dot.alpha <= 0) this.dots.delete(dot.key);
        isMoving = true;
      } else {
        dot.alpha = this.isStill ? 1 : Math.min(1, dot.alpha + ms / EASE_MS);
        const isThere = Math.abs(dot.toX - dot.x) + Math.abs(dot.toY - dot.y) < CLOSE;
        if (isThere && dot.alpha === 1) [dot.x, dot.y] = [dot.toX, dot.toY];
        else isMoving = true;
      }
    }
    return isMoving;
  }

  /** The dot at a point, or the nearest within `reach`. */
  at(x: number, y: number, reach = 6): Dot | undefined {
    let best: Dot | undefined;
    let bestDistance = reach;
    for (const dot of this.dots.values()) {
      if (dot.phase === 'ended') continue;
      const dx = Math.max(dot.x - x, 0, x - dot.x - dot.size);
      const dy = Math.max(dot.y - y, 0, y - dot.y - dot.size);
      const distance = Math.hypot(dx, dy);
      if (distance < bestDistance) [best, bestDistance] = [dot, distance];
    }
    return best;
  }

  private sort(
    { requests }: ClusterModel,
    { queue, transfer, lanes }: FlowBoxes,
  ): Map<string, { box: Box; requests: RequestState[] }> {
    const byBox = new Map<string, { box: Box; requests: RequestState[] }>();
    for (const request of requests.values()) {
      const { phase, engine = '' } = request;
      const isOnLane = phase === 'prefill' || phase === 'decode';
      const lane = isOnLane ? lanes.get(engine) : undefined;
      const between = phase === 'transfer' ? (transfer ?? queue) : queue;
      const name = lane ? engine : phase === 'transfer' ? 'transfer' : 'queue';
      const entry = byBox.get(name) ?? { box: lane ?? between, requests: [] };
      entry.requests.push(request);
      byBox.set(name, entry);
    }
    return byBox;
  }

  private place(name: string, box: Box, requests: readonly RequestState[]): void {
    const book = this.books.get(name) ?? new SlotBook();
    this.books.set(name, book);
    book.keep(new Set(requests.map(({ key }) => key)));
    for (const { key } of requests) book.of(key);
    const grid = gridFor(box, book.extent);
    for (const request of requests) this.send(request, grid, book.of(request.key));
  }

  private send(request: RequestState, grid: DotGrid, slot: number): void {
    const { x, y, size } = spotOf(grid, slot);
    const dot = this.dots.get(request.key) ?? this.enter(request.key, { x, y });
    if (dot === undefined) return;
    [dot.toX, dot.toY, dot.size] = [x, y, size];
    dot.phase = request.phase;
    dot.progress = request.maxTokens > 0 ? Math.min(1, request.tokens / request.maxTokens) : 0;
  }

  private enter(key: number, { x, y }: { x: number; y: number }): Dot | undefined {
    if (this.dots.size >= MOST_DOTS) return undefined;
    const dot: Dot = {
      key,
      y,
      toX: x,
      toY: y,
      size: 0,
      phase: 'queue',
      progress: 0,
      x: this.isStill ? x : x - 24,
      alpha: this.isStill ? 1 : 0,
    };
    this.dots.set(key, dot);
    return dot;
  }

  private leave(dot: Dot, { exitX }: FlowBoxes): void {
    if (this.isStill) this.dots.delete(dot.key);
    dot.phase = 'ended';
    dot.toX = exitX;
  }
}
