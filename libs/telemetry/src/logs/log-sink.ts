import { writeSync } from 'node:fs';
import { reasonOf } from '@baton/kernel';

/** File descriptor of stderr. */
const STDERR = 2;
/** Time for which a line waits for a reader that does not keep up, and the pause between tries. */
const LONGEST_WAIT_MS = 100;
const PAUSE_MS = 5;

/** Writes bytes and returns how many; throws as `writeSync`. */
export type WriteBytes = (bytes: Buffer) => number;

const pauses = new Int32Array(new SharedArrayBuffer(4));

/**
 * Where a logger writes its lines, synchronously, so that a crash loses none. A line that cannot be
 * written is dropped, counted, and ends nothing.
 */
export class LogSink {
  private lost = 0;
  private reason = '';

  constructor(private readonly writeBytes: WriteBytes = (bytes) => writeSync(STDERR, bytes)) {}

  /** Called with the number of lost lines when a line can be written again. */
  onRecovered: (lines: number, reason: string) => void = () => undefined;

  write(line: string): void {
    try {
      this.writeAll(Buffer.from(line));
    } catch (error) {
      this.lost += 1;
      this.reason = reasonOf(error);
      return;
    }
    const lines = this.lost;
    this.lost = 0;
    if (lines > 0) this.onRecovered(lines, this.reason);
  }

  private writeAll(bytes: Buffer): void {
    let leftMs = this.lost > 0 ? 0 : LONGEST_WAIT_MS;
    for (let at = 0; at < bytes.length;) {
      try {
        at += this.writeBytes(bytes.subarray(at));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || leftMs <= 0) throw error;
        leftMs -= PAUSE_MS;
        Atomics.wait(pauses, 0, 0, PAUSE_MS);
      }
    }
  }
}
