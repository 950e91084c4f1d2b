import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';

const CHUNK_BYTES = 1 << 20;
/** Longest line, bytes. A file with a longer one is not a text file. */
const LONGEST_LINE = 1 << 26;

export interface LineReader {
  /** True: text after the last line feed is not a line yet. */
  readonly isGrowing?: boolean;
  /** Gets each line without its line feed, with its number from 1. Returns false to stop. */
  onLine(line: string, lineNumber: number): boolean;
  /**
   * Gets the bytes read so far and the size of the file; 0 for a file without a size, such as a
   * pipe.
   */
  onProgress?(doneBytes: number, totalBytes: number): void;
}

/**
 * Reads a text file, `.gz` ones unpacked, line by line in constant memory. It yields to the event
 * loop after every piece of 1 MiB.
 *
 * @throws UsageError when the file cannot be read or is not a text with lines, and any error of
 * `onLine`
 */
export async function readLines(path: string, reader: LineReader): Promise<void> {
  const totalBytes = await readSize(path);
  const source = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const chunks = unpacked(path, source)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const lines = new LineSplitter(path, reader);
  try {
    let hasMore = true;
    while (hasMore) {
      const chunk = await readNext(chunks, path);
      hasMore = chunk === undefined ? lines.endFile() : lines.push(chunk);
      if (chunk !== undefined) reader.onProgress?.(source.bytesRead, totalBytes);
    }
  } finally {
    source.destroy();
  }
}

function unpacked(path: string, source: Readable): Readable {
  if (!path.endsWith('.gz')) return source;
  // A failure of either side reaches the reader of the result.
  return pipeline(source, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined);
}

async function readSize(path: string): Promise<number> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : 0;
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function readNext(chunks: AsyncIterator<Buffer>, path: string): Promise<Buffer | undefined> {
  try {
    const { done, value } = await chunks.next();
    return done === true ? undefined : value;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): UsageError {
  return new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
}

/** Cuts pieces of a file into lines. */
class LineSplitter {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';
  private lineNumber = 0;

  constructor(
    private readonly path: string,
    private readonly reader: LineReader,
  ) {}

  /** Returns false to stop. */
  push(chunk: Buffer): boolean {
    const text = this.rest + this.decoder.write(chunk);
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      this.lineNumber += 1;
      if (!this.reader.onLine(text.slice(from, to), this.lineNumber)) return false;
      from = to + 1;
    }
    this.rest = text.slice(from);
    if (this.rest.length > LONGEST_LINE) {
      throw new UsageError(`${this.path}:${this.lineNumber + 1}: the line is too long.`);
    }
    return true;
  }

  /** The last line can end without a line feed. */
  endFile(): false {
    const last = this.rest + this.decoder.end();
    if (last !== '' && this.reader.isGrowing !== true)
      this.reader.onLine(last, this.lineNumber + 1);
    return false;
  }
}
