import { make } from './element';
import type { Dot, FlowScene } from './flow-scene';
import { colour } from './palette';
import type { PicturePhase } from '@baton/contract';

const PHASES: readonly PicturePhase[] = ['queue', 'prefill', 'transfer', 'decode'];
/** Size from which dots have round corners and show the progress of their answer. */
const ROOMY = 6;
/** Longest animation step in ms, for any delay of the browser. */
const MOST_FRAME_MS = 60;

/** Draws the dots of a scene, one frame at a time while a dot moves. At rest it draws nothing. */
export class FlowCanvas {
  readonly element = make('canvas', { class: 'dots', 'aria-hidden': 'true' });
  private readonly context = this.element.getContext('2d')!;
  private colours = colours();
  private frame: number | undefined;
  private drawnMs = 0;
  /** The dot under the pointer. */
  marked: number | undefined;

  constructor(private readonly scene: FlowScene) {}

  /** Draws again after a change of the colour scheme. */
  repaint(): void {
    this.colours = colours();
    this.draw();
  }

  resize(width: number, height: number): void {
    const ratio = Math.min(2, devicePixelRatio);
    this.element.width = Math.round(width * ratio);
    this.element.height = Math.round(height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  /** Starts to draw after a change of the scene. */
  run(): void {
    if (this.frame !== undefined) return;
    this.drawnMs = performance.now();
    this.frame = requestAnimationFrame(this.step);
  }

  draw(): void {
    const { context, element, scene } = this;
    context.clearRect(0, 0, element.width, element.height);
    const all = [...scene.dots.values()];
    for (const phase of PHASES) {
      const dots = all.filter((dot) => dot.phase === phase && dot.alpha === 1);
      this.drawMany(dots, phase);
    }
    for (const dot of all) if (dot.alpha < 1) this.drawFading(dot);
    const marked = this.marked === undefined ? undefined : scene.dots.get(this.marked);
    if (marked) this.drawMark(marked);
  }

  private readonly step = (nowMs: number): void => {
    const isMoving = this.scene.advance(Math.min(MOST_FRAME_MS, nowMs - this.drawnMs));
    this.drawnMs = nowMs;
    this.draw();
    this.frame = isMoving ? requestAnimationFrame(this.step) : undefined;
  };

  /** Draws all dots as one path, because the cost is the number of calls to fill. */
  private drawMany(dots: readonly Dot[], phase: PicturePhase): void {
    const { context } = this;
    context.fillStyle = this.colours[phase];
    const isDecode = phase === 'decode';
    if (isDecode) {
      context.globalAlpha = 0.35;
      this.fillAll(dots.filter(({ size }) => size >= ROOMY));
      context.globalAlpha = 1;
    }
    this.fillAll(isDecode ? dots.map(progressPart) : dots);
  }

  private fillAll(dots: readonly Rectangle[]): void {
    const { context } = this;
    context.beginPath();
    for (const dot of dots) trace(context, dot);
    context.fill();
  }

  private drawFading(dot: Dot): void {
    const { context } = this;
    context.globalAlpha = Math.max(0, dot.alpha);
    context.fillStyle = this.colours[dot.phase === 'ended' ? 'decode' : dot.phase];
    this.fillAll([dot]);
    context.globalAlpha = 1;
  }

  private drawMark({ x, y, size }: Dot): void {
    const { context } = this;
    context.strokeStyle = this.colours.text;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x + size / 2, y + size / 2, size, 0, 2 * Math.PI);
    context.stroke();
  }
}

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly height?: number;
}

/** The part of a dot that shows the received tokens. Small dots are always full. */
function progressPart({ x, y, size, progress }: Dot): Rectangle {
  if (size < ROOMY) return { x, y, size };
  const height = Math.max(2, size * progress);
  return { x, y: y + size - height, size, height };
}

function trace(context: CanvasRenderingContext2D, { x, y, size, height = size }: Rectangle): void {
  if (size < ROOMY) context.rect(x, y, size, height);
  else context.roundRect(x, y, size, height, Math.min(2, height / 2));
}

function colours() {
  return {
    queue: colour('queue'),
    prefill: colour('prefill'),
    transfer: colour('transfer'),
    decode: colour('decode'),
    text: colour('text'),
  };
}
