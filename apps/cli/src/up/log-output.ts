import type { Writable } from 'node:stream';
import { reasonOf } from '@baton/kernel';
import { formatLine } from './log-lines';

/** Limit of characters that wait for a reader which does not keep up. */
const MOST_WAITING = 1 << 22;

/**
 * The lines of a cluster on its terminal. A line that cannot be written is dropped, counted, and
 * ends nothing; stderr says how many as soon as it takes a line.
 */
export class LogOutput {
  private lost = 0;

  constructor(
    private readonly stdout: Writable = process.stdout,
    private readonly stderr: Writable = process.stderr,
  ) {}

  /** A line of a process, or a sentence about it. */
  say(line: string, name = 'baton'): void {
    this.write(this.stderr, formatLine(name, line));
  }

  /** A text for the user. */
  print(text: string): void {
    this.write(this.stdout, text);
  }

  private write(stream: Writable, text: string): void {
    if (stream.writableLength > MOST_WAITING) {
      this.lost += 1;
      return;
    }
    stream.write(text, (error) => {
      if (error) {
        this.lost += 1;
        if (stream === this.stdout) this.report(reasonOf(error));
      } else if (this.lost > 0) {
        this.report('the output was full or closed');
      }
    });
  }

  private report(reason: string): void {
    const lost = this.lost;
    const line = formatLine('baton', `lines that could not be written: ${lost} (${reason})`);
    this.lost = 0;
    this.stderr.write(line, (error) => {
      if (error) this.lost += lost;
    });
  }
}
