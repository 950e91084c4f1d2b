import { readSync, writeSync } from 'node:fs';
import { UsageError } from '@baton/config';

/**
 * Messages to and from a program. Both calls block, because a policy returns its answer at once.
 */
export interface Conversation {
  send(message: unknown): void;
  /**
   * The next message. Undefined: the program has closed its output.
   *
   * @throws UsageError when the line is not JSON
   */
  receive(): unknown;
}

const [STDIN, STDOUT] = [0, 1];
const CHUNK_BYTES = 1 << 16;
/** Pause while the pipe is full. */
const FULL_MS = 1;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** One JSON document per line, on stdin and stdout. */
export class StandardStreams implements Conversation {
  private readonly chunk = Buffer.alloc(CHUNK_BYTES);
  private rest = '';

  send(message: unknown): void {
    const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
    for (let at = 0; at < bytes.length;) at += written(bytes, at);
  }

  receive(): unknown {
    for (let end = this.rest.indexOf('\n'); ; end = this.rest.indexOf('\n')) {
      if (end >= 0) return parsed(this.take(end));
      const read = readSync(STDIN, this.chunk);
      if (read === 0) return undefined;
      this.rest += this.chunk.toString('latin1', 0, read);
    }
  }

  private take(end: number): string {
    const line = this.rest.slice(0, end);
    this.rest = this.rest.slice(end + 1);
    return line;
  }
}

/** The number of bytes that the pipe took; 0, after a pause, when the program must read first. */
function written(bytes: Buffer, from: number): number {
  try {
    return writeSync(STDOUT, bytes, from);
  } catch (error) {
    // A pipe does not block once `process.stdout` has been used.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(PAUSE, 0, 0, FULL_MS);
    return 0;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    throw new UsageError(
      `A line on stdin must be one JSON document; '${line.slice(0, 40)}' is not.`,
    );
  }
}
