import type { SingleBar } from 'cli-progress';

const SILENT_MS = 1_000;
/** Time of the first line without a terminal, in ms. The next lines follow at the same interval. */
const FIRST_LINE_MS = 10_000;
const LINE_EVERY_MS = 10_000;

/** Receives the progress of a task. `end` restores the terminal. */
export interface Progress {
  update(done: number, whole: number): void;
  endProgress(): void;
}

/**
 * The progress of a task on stderr, with the remaining time: a bar for tasks longer than one
 * second, or without a terminal a line every ten seconds.
 */
export async function openProgress(
  what: string,
  stderr: NodeJS.WriteStream = process.stderr,
): Promise<Progress> {
  if (!stderr.isTTY) return new PlainLines(what, stderr);
  const { Presets, SingleBar: Bar } = await import('cli-progress');
  const format = `${what} {bar} {percentage} % | {eta_formatted} left`;
  // A signal handler would keep Ctrl-C from ending a simulation, which blocks the event loop.
  const options = { stream: stderr, format, clearOnComplete: true, gracefulExit: false };
  return new LateBar(new Bar(options, Presets.shades_classic));
}

/** Runs the work and shows its progress until the work ends or fails. */
export async function withProgress<T>(
  what: string,
  work: (onProgress: Progress['update']) => Promise<T> | T,
): Promise<T> {
  const progress = await openProgress(what);
  try {
    return await work((done, whole) => progress.update(done, whole));
  } finally {
    progress.endProgress();
  }
}

/** A bar that appears only in a long task. */
class LateBar implements Progress {
  private readonly beganMs = performance.now();
  private isShown = false;

  constructor(private readonly bar: SingleBar) {}

  update(done: number, whole: number): void {
    if (this.isShown) this.bar.update(done);
    else if (whole > 0 && performance.now() - this.beganMs > SILENT_MS) {
      this.bar.start(whole, done);
      this.isShown = true;
    }
  }

  endProgress(): void {
    if (this.isShown) this.bar.stop();
  }
}

/** Lines for a log: `baton: replay 42 %, about 12 s left`. */
class PlainLines implements Progress {
  private readonly beganMs = performance.now();
  private nextMs = this.beganMs + FIRST_LINE_MS;

  constructor(
    private readonly what: string,
    private readonly stderr: NodeJS.WritableStream,
  ) {}

  update(done: number, whole: number): void {
    const nowMs = performance.now();
    if (nowMs < this.nextMs || done <= 0 || whole <= 0) return;
    this.nextMs = nowMs + LINE_EVERY_MS;
    const share = Math.min(1, done / whole);
    const leftS = Math.ceil(((nowMs - this.beganMs) / 1_000) * (1 / share - 1));
    const percent = Math.floor(share * 100);
    this.stderr.write(`baton: ${this.what} ${percent} %, about ${leftS} s left\n`);
  }

  endProgress(): void {}
}
