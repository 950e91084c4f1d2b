import type { ClusterHello, ClusterPicture } from '@baton/contract';
import { WINDOW_S } from '../charts/rate-history';
import { make, setAttribute, setText } from '../element';
import type { SavedRun } from './saved-run';

/**
 * Simulated seconds per second. The default is the first speed at which the run takes at most a
 * minute.
 */
const SPEEDS = [0.25, 1, 2, 5, 10, 30, 100, 300, 1_000];
const FULL_SPEED = SPEEDS.indexOf(1);
const WHOLE_S = 60;
const TICK_MS = 100;

export interface PlayerListener {
  /** Called when the run begins, or continues from another position. */
  readonly onBegin: (hello: ClusterHello) => void;
  /** Called for each picture that a jump skips, so that histories are complete. */
  readonly onPassed: (picture: ClusterPicture) => void;
  readonly onPicture: (picture: ClusterPicture) => void;
}

/** Play, pause, speed and position of a recorded run. */
export class RunPlayer {
  readonly element: HTMLElement;
  private readonly toggle = make('button', { type: 'button', class: 'play' });
  private readonly seek: HTMLInputElement;
  private readonly speed = make('select', { 'aria-label': 'Speed' });
  private readonly clock = make('span', { class: 'clock' });
  private positionMs = 0;
  private isPlaying = false;
  private shown = -1;
  private drawnMs = 0;

  constructor(
    private readonly recording: SavedRun,
    private readonly listener: PlayerListener,
  ) {
    const { intervalMs } = recording.hello;
    const range = { min: 0, max: this.endMs, step: intervalMs, value: 0 };
    this.seek = make('input', { type: 'range', 'aria-label': 'Position in the run', ...range });
    for (const speed of SPEEDS) this.speed.append(make('option', { value: speed }, [`${speed} ×`]));
    const fits = SPEEDS.findIndex((speed) => this.endMs / speed <= WHOLE_S * 1_000);
    const chosen = fits < 0 ? SPEEDS.length - 1 : Math.max(fits, FULL_SPEED);
    this.speed.value = String(SPEEDS[chosen]);
    this.toggle.addEventListener('click', () => this.press());
    this.seek.addEventListener('input', () => this.go(this.seek.valueAsNumber));
    const label = 'Player of the recorded run';
    const parts = [this.toggle, this.seek, this.clock, this.speed];
    this.element = make('section', { class: 'panel player', 'aria-label': label }, parts);
  }

  start(): void {
    this.listener.onBegin(this.recording.hello);
    window.setInterval(() => this.tick(), TICK_MS);
    this.press();
  }

  private get endMs(): number {
    return this.recording.pictures.at(-1)?.at ?? 0;
  }

  /** Plays or pauses. At the end, plays from the beginning. */
  private press(): void {
    this.isPlaying = !this.isPlaying;
    this.drawnMs = performance.now();
    this.go(this.isPlaying && this.positionMs >= this.endMs ? 0 : this.positionMs);
  }

  private tick(): void {
    const nowMs = performance.now();
    const passedMs = nowMs - this.drawnMs;
    this.drawnMs = nowMs;
    if (this.isPlaying) this.go(this.positionMs + passedMs * Number(this.speed.value));
  }

  private go(toMs: number): void {
    this.positionMs = Math.min(this.endMs, toMs);
    if (this.positionMs === this.endMs) this.isPlaying = false;
    this.show();
    setText(this.toggle, this.isPlaying ? 'Pause' : 'Play');
    const clock = `${seconds(this.positionMs)} of ${seconds(this.endMs)}`;
    setText(this.clock, clock);
    setAttribute(this.seek, 'aria-valuetext', clock);
    this.seek.valueAsNumber = this.positionMs;
  }

  private show(): void {
    const { hello, pictures } = this.recording;
    const last = pictures.length - 1;
    const at = Math.min(last, Math.max(0, Math.ceil(this.positionMs / hello.intervalMs) - 1));
    const picture = pictures[at];
    if (at === this.shown || picture === undefined) return;
    let from = this.shown + 1;
    if (at < this.shown) {
      this.listener.onBegin(hello);
      from = pictures.findIndex((each) => each.at >= picture.at - WINDOW_S * 1_000);
    }
    for (const passed of pictures.slice(from, at)) this.listener.onPassed(passed);
    this.shown = at;
    this.listener.onPicture(picture);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
