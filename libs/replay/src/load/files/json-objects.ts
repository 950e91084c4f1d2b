import { UsageError } from '@baton/config';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** Largest object, bytes. A file with a larger one is not a list of objects. */
const LARGEST = 1 << 26;

/**
 * Splits the bytes of a JSON array, or of JSON lines, into objects. The file may be larger than a
 * string can be. A nested object stays in the outer one.
 */
export class JsonObjects {
  private pieces: Buffer[] = [];
  private bytes = 0;
  private depth = 0;
  private inString = false;
  private isEscaped = false;
  private count = 0;

  constructor(
    private readonly path: string,
    /** Gets each object and its number from 1. Returns false to stop. */
    private readonly onObject: (object: unknown, number: number) => boolean,
  ) {}

  /** Returns false to stop. */
  push(chunk: Buffer): boolean {
    let from = this.depth > 0 ? 0 : -1;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (this.inString) this.inside(byte);
      else if (byte === QUOTE) this.inString = true;
      else if (byte === OPEN && this.depth++ === 0) from = i;
      else if (byte === CLOSE && this.depth > 0 && --this.depth === 0) {
        this.pieces.push(chunk.subarray(from, i + 1));
        from = -1;
        if (!this.take()) return false;
      }
    }
    if (from !== -1) this.keep(chunk.subarray(from));
    return true;
  }

  private inside(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE) this.inString = false;
  }

  private keep(piece: Buffer): void {
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (this.bytes > LARGEST) {
      throw new UsageError(`${this.path}: object ${this.count + 1} does not end.`);
    }
  }

  private take(): boolean {
    const text = Buffer.concat(this.pieces).toString('utf8');
    this.pieces = [];
    this.bytes = 0;
    this.count += 1;
    return this.onObject(this.parsed(text), this.count);
  }

  private parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw new UsageError(`${this.path}: object ${this.count} is broken JSON.`);
    }
  }
}
