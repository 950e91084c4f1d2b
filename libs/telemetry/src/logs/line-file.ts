import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '@baton/config';
import { makeFolder, reasonOf } from '@baton/kernel';
import type { Logger } from './logger';

/** Time for which lines wait for others. */
const FLUSH_MS = 200;
/**
 * Characters of one write. Lines of several processes that append to one file do not mix, because
 * each write has whole lines.
 */
const WRITE_CHARS = 1 << 18;
/** Limit of waiting characters; further lines are left out and counted. */
const MOST_WAITING = 1 << 25;

/** `new`: the file must not exist. `append`: it may, and others may append to it too. */
export type LineFileMode = 'new' | 'append';

/**
 * Lines for a file, written in the background: `add` never waits and never fails. Lines that the
 * disk cannot take in time are left out; a disk that fails ends the writing. Both are logged, once.
 */
export class LineFile {
  private waiting: string[] = [];
  private waitingChars = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private isWriting = false;
  private hasFailed = false;
  private leftOut = 0;

  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    private readonly log: Logger,
  ) {}

  /**
   * Creates the folder too.
   *
   * @throws UsageError when the file cannot be opened. Undefined when it must be new and exists
   * already.
   */
  static async open(path: string, mode: LineFileMode, log: Logger): Promise<LineFile | undefined> {
    const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants;
    const flags = O_APPEND | O_CREAT | O_WRONLY | (mode === 'new' ? O_EXCL : 0);
    try {
      makeFolder(dirname(path));
      return new LineFile(path, await open(path, flags, 0o644), log);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (mode === 'new' && code === 'EEXIST') return undefined;
      throw new UsageError(`${path} cannot be written: ${message}.`);
    }
  }

  /** @param line without its line feed */
  add(line: string): void {
    if (this.hasFailed || this.waitingChars + line.length > MOST_WAITING) {
      this.leaveOut();
      return;
    }
    this.waiting.push(line);
    this.waitingChars += line.length + 1;
    if (this.waitingChars >= WRITE_CHARS) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  /** Writes the waiting lines and closes the file. */
  async close(): Promise<void> {
    this.flush();
    await this.writing;
    if (this.leftOut > 0) this.log.warn({ file: this.path, lines: this.leftOut }, 'lines left out');
    await this.handle.close().catch(() => undefined);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isWriting || this.waiting.length === 0) return;
    this.isWriting = true;
    this.writing = this.writeAll().finally(() => (this.isWriting = false));
  }

  private async writeAll(): Promise<void> {
    try {
      while (this.waiting.length > 0) await this.handle.appendFile(this.nextPiece());
    } catch (error) {
      this.hasFailed = true;
      this.leftOut += this.waiting.length;
      this.waiting = [];
      const reason = reasonOf(error);
      this.log.error({ file: this.path, reason }, 'the file cannot be written any more');
    }
  }

  /** The lines of one write, at least one. */
  private nextPiece(): string {
    let count = 0;
    let chars = 0;
    while (count < this.waiting.length && (count === 0 || chars < WRITE_CHARS)) {
      chars += this.waiting[count++]!.length + 1;
    }
    this.waitingChars -= chars;
    return `${this.waiting.splice(0, count).join('\n')}\n`;
  }

  private leaveOut(): void {
    if (this.leftOut === 0 && !this.hasFailed) {
      this.log.warn({ file: this.path }, 'the disk does not keep up: lines are left out');
    }
    this.leftOut += 1;
  }
}
