import { createReadStream } from 'node:fs';
import { UsageError } from '@baton/config';

/** A JSON document within a file. */
export interface JsonDocument {
  readonly text: string;
  /** Number of the document's first line, from 1. */
  readonly line: number;
}

const MAX_CHARACTERS = 16 * 2 ** 20;
const READ_BYTES = 2 ** 20;

/**
 * The documents of a JSONL file, or the elements of a file that is one JSON array, one at a time:
 * memory holds one document and the rest of its chunk. Throws a `UsageError` that names file and
 * line for a document that is too long or incomplete at the end of the file.
 */
export async function* documentsIn(path: string): AsyncGenerator<JsonDocument> {
  const chunks = createReadStream(path, { encoding: 'utf8', highWaterMark: READ_BYTES });
  let splitter: LineSplitter | ElementSplitter | undefined;
  for await (const chunk of chunks) {
    const text = splitter === undefined ? (chunk as string).replace(/^\ufeff/, '') : chunk;
    splitter ??= /^\s*\[/.test(text as string) ? new ElementSplitter(path) : new LineSplitter(path);
    yield* splitter.push(text as string);
  }
  if (splitter !== undefined) yield* splitter.endFile();
}

/** One document per line; empty lines are skipped. */
class LineSplitter {
  private rest = '';
  private line = 1;

  constructor(private readonly path: string) {}

  *push(chunk: string): Generator<JsonDocument> {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    for (const text of lines) {
      if (text.trim() !== '') yield { text, line: this.line };
      this.line += 1;
    }
    refuseLong(this.rest, this);
  }

  *endFile(): Generator<JsonDocument> {
    if (this.rest.trim() !== '') yield { text: this.rest, line: this.line };
  }

  get place(): string {
    return `${this.path}:${this.line}`;
  }
}

/** The elements of one array; it reads only brackets and quotes. */
class ElementSplitter {
  private depth = 0;
  private isText = false;
  private isEscaped = false;
  private element = '';
  private line = 1;
  private startLine = 1;

  constructor(private readonly path: string) {}

  *push(chunk: string): Generator<JsonDocument> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at]!;
      if (character === '\n') this.line += 1;
      const before = this.depth;
      this.look(character);
      if (before === 1 && this.depth === 2) {
        from = at;
        this.startLine = this.line;
      }
      if (before === 2 && this.depth === 1) {
        yield { text: this.element + chunk.slice(from, at + 1), line: this.startLine };
        this.element = '';
      }
    }
    if (this.depth > 1) this.element += chunk.slice(from);
    refuseLong(this.element, this);
  }

  // eslint-disable-next-line require-yield -- both splitters end alike
  *endFile(): Generator<JsonDocument> {
    if (this.depth === 0) return;
    throw new UsageError(`${this.place}: the file ends within its list.`);
  }

  get place(): string {
    return `${this.path}:${this.startLine}`;
  }

  private look(character: string): void {
    if (this.isText) {
      if (this.isEscaped) this.isEscaped = false;
      else if (character === '\\') this.isEscaped = true;
      else if (character === '"') this.isText = false;
    } else if (character === '"') this.isText = true;
    else if (character === '{' || character === '[') this.depth += 1;
    else if (character === '}' || character === ']') this.depth -= 1;
  }
}

function refuseLong(text: string, { place }: { readonly place: string }): void {
  if (text.length <= MAX_CHARACTERS) return;
  throw new UsageError(`${place}: a document of more than ${MAX_CHARACTERS} characters.`);
}
