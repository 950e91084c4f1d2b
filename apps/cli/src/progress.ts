import type { SingleBar } from 'cli-progress';

const SILENT_MS = 1_000;

/** Takes the progress of a task; `end` leaves the terminal as it was. */
export interface Progress {
  update(done: number, whole: number): void;
  end(): void;
}

const NONE: Progress = { update: () => undefined, end: () => undefined };

/** A bar on stderr for tasks that take longer than a second; nothing without a terminal. */
export async function openProgress(
  what: string,
  stderr: NodeJS.WriteStream = process.stderr,
): Promise<Progress> {
  if (!stderr.isTTY) return NONE;
  const { Presets, SingleBar: Bar } = await import('cli-progress');
  const format = `${what} {bar} {percentage} % | {eta_formatted} left`;
  // A handler of signals would keep Ctrl-C from ending a simulation, which does not turn the event
  // loop.
  const options = { stream: stderr, format, clearOnComplete: true, gracefulExit: false };
  return new LateBar(new Bar(options, Presets.shades_classic));
}

/** The work with a bar that is gone when it ends, however it ends. */
export async function withProgress<T>(
  what: string,
  work: (onProgress: Progress['update']) => Promise<T> | T,
): Promise<T> {
  const progress = await openProgress(what);
  try {
    return await work((done, whole) => progress.update(done, whole));
  } finally {
    progress.end();
  }
}

/** A bar that appears when the task turns out to be long. */
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

  end(): void {
    if (this.isShown) this.bar.stop();
  }
}
