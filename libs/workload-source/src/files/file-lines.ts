import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { UsageError } from '@baton/config';

const CHUNK_BYTES = 1 << 20;
/** A longer line is taken for a file that has none. */
const LONGEST_LINE = 1 << 26;

export interface LineReader {
  /** `line` is without its line feed, numbers count from 1. False: no more lines are wanted. */
  onLine(line: string, lineNumber: number): boolean;
  /** Bytes of the file so far and in all; 0 in all when it has no size, as a pipe. */
  onProgress?(doneBytes: number, totalBytes: number): void;
}

/**
 * Reads a text file, `.gz` ones unpacked, line by line in constant memory. The event loop turns
 * after every piece of 1 MiB.
 *
 * @throws UsageError when it cannot be read or is no text with lines; whatever `onLine` throws
 */
export async function readLines(path: string, reader: LineReader): Promise<void> {
  const totalBytes = await sizeOf(path);
  const source = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const chunks = unpacked(path, source)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const lines = new LineSplitter(path, reader);
  try {
    let goesOn = true;
    while (goesOn) {
      const chunk = await nextOf(chunks, path);
      goesOn = chunk === undefined ? lines.end() : lines.push(chunk);
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

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : 0;
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function nextOf(chunks: AsyncIterator<Buffer>, path: string): Promise<Buffer | undefined> {
  try {
    const { done, value } = await chunks.next();
    return done === true ? undefined : value;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): UsageError {
  const why = error instanceof Error ? error.message : String(error);
  return new UsageError(`${path} cannot be read: ${why}.`);
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

  /** False when no more lines are wanted. */
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

  /** The last line may lack its line feed. */
  end(): false {
    const last = this.rest + this.decoder.end();
    if (last !== '') this.reader.onLine(last, this.lineNumber + 1);
    return false;
  }
}
