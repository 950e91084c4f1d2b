/**
 * The first place where a text is not JSON, as an error of Python's decoder, which vLLM passes on.
 */
export interface JsonSyntaxError {
  readonly offset: number;
  readonly message: string;
}

const MAX_DEPTH = 500;
const WORDS = ['true', 'false', 'null'];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING_END = /[^"\\\u0000-\u001f]*/y;
const SPACE = /[ \t\n\r]*/y;

/** Finds the first error of a text that `JSON.parse` refuses. */
export function findJsonError(text: string): JsonSyntaxError {
  const scanner = new Scanner(text);
  return scanner.run();
}

class Fault extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

class Scanner {
  private at = 0;

  constructor(private readonly text: string) {}

  run(): JsonSyntaxError {
    try {
      this.skipSpace();
      this.value(0);
      this.skipSpace();
    } catch (error) {
      if (error instanceof Fault) return { offset: error.offset, message: error.message };
      throw error;
    }
    return { offset: this.at, message: 'Extra data' };
  }

  private value(depth: number): void {
    const next = this.text[this.at];
    if (depth > MAX_DEPTH) throw new Fault(this.at, 'Expecting value');
    if (next === '{') this.object(depth);
    else if (next === '[') this.array(depth);
    else if (next === '"') this.string();
    else this.scalar();
  }

  private scalar(): void {
    const word = WORDS.find((candidate) => this.text.startsWith(candidate, this.at));
    if (word !== undefined) this.at += word.length;
    else if (!this.match(NUMBER)) throw new Fault(this.at, 'Expecting value');
  }

  private array(depth: number): void {
    this.at += 1;
    this.skipSpace();
    if (this.take(']')) return;
    for (;;) {
      this.value(depth + 1);
      this.skipSpace();
      if (this.take(']')) return;
      if (!this.take(',')) throw new Fault(this.at, "Expecting ',' delimiter");
      this.skipSpace();
    }
  }

  private object(depth: number): void {
    this.at += 1;
    this.skipSpace();
    if (this.take('}')) return;
    for (;;) {
      if (this.text[this.at] !== '"') {
        throw new Fault(this.at, 'Expecting property name enclosed in double quotes');
      }
      this.string();
      this.skipSpace();
      if (!this.take(':')) throw new Fault(this.at, "Expecting ':' delimiter");
      this.skipSpace();
      this.value(depth + 1);
      this.skipSpace();
      if (this.take('}')) return;
      if (!this.take(',')) throw new Fault(this.at, "Expecting ',' delimiter");
      this.skipSpace();
    }
  }

  private string(): void {
    const start = this.at;
    this.at += 1;
    for (;;) {
      this.match(STRING_END);
      const next = this.text[this.at];
      if (next === undefined) throw new Fault(start, 'Unterminated string starting at');
      if (this.take('"')) return;
      if (next !== '\\') throw new Fault(this.at, 'Invalid control character at');
      this.escape();
    }
  }

  private escape(): void {
    const kind = this.text[this.at + 1] ?? '';
    if (kind === 'u' && /^[0-9a-fA-F]{4}$/.test(this.text.slice(this.at + 2, this.at + 6))) {
      this.at += 6;
    } else if (kind === 'u') {
      throw new Fault(this.at + 1, 'Invalid \\uXXXX escape');
    } else if ('"\\/bfnrt'.includes(kind) && kind !== '') {
      this.at += 2;
    } else {
      throw new Fault(this.at, 'Invalid \\escape');
    }
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private skipSpace(): void {
    this.match(SPACE);
  }

  private match(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }
}
