/**
 * Models of benchmark clients' stream readers, with the parts that affect the measurement. Each
 * takes the text of one network read at a time.
 */
export interface Reading {
  /** Read at which the client counts the first token; -1 when it never does. */
  readonly firstTokenRead: number;
  readonly text: string;
  readonly completionTokens: number | undefined;
  /** Chunks that it counts as tokens. */
  readonly tokenChunks: number;
  readonly isWhole: boolean;
}

interface Chunk {
  readonly choices: readonly {
    readonly text?: string;
    readonly delta?: { readonly role?: string; readonly content?: string };
  }[];
  readonly usage?: { readonly completion_tokens: number } | null;
}

class Notes {
  firstTokenRead = -1;
  text = '';
  completionTokens: number | undefined;
  tokenChunks = 0;
  isWhole = false;

  token(read: number, text: string): void {
    if (this.firstTokenRead === -1) this.firstTokenRead = read;
    this.tokenChunks += 1;
    this.text += text;
  }
}

const textIn = ({ choices: [choice] }: Chunk): string =>
  choice?.text ?? choice?.delta?.content ?? '';

/**
 * `vllm bench serve`: strips every read, splits at blank lines, and treats a rest that is whole
 * JSON as a message.
 */
export function readAsVllmBench(reads: readonly string[]): Reading {
  const notes = new Notes();
  let buffer = '';
  const take = (message: string, read: number): void => {
    if (message.startsWith(':')) return;
    const data = message.replace(/^data: /, '');
    if (data === '[DONE]') notes.isWhole = true;
    else {
      const chunk = JSON.parse(data) as Chunk;
      if (chunk.choices.length > 0) notes.token(read, textIn(chunk));
      if (chunk.usage != null) notes.completionTokens = chunk.usage.completion_tokens;
    }
  };
  reads.forEach((bytes, read) => {
    buffer += bytes.trim();
    for (let end = buffer.indexOf('\n\n'); end !== -1; end = buffer.indexOf('\n\n')) {
      take(buffer.slice(0, end).trim(), read);
      buffer = buffer.slice(end + 2);
    }
    if (!buffer.startsWith('data: ')) return;
    const data = buffer.slice('data: '.length).trim();
    if (data !== '[DONE]' && !isJson(data)) return;
    take(buffer, read);
    buffer = '';
  });
  return notes;
}

/**
 * llmperf: six characters off every line that is not empty, then JSON with a delta in its first
 * choice.
 */
export function readAsLlmperf(reads: readonly string[]): Reading {
  const notes = new Notes();
  const lines = reads.flatMap((bytes, read) => bytes.split('\n').map((line) => ({ line, read })));
  for (const { line, read } of lines) {
    if (line.trim() === '') continue;
    const data = line.trim().slice('data: '.length);
    if (data === '[DONE]') {
      notes.isWhole = true;
      continue;
    }
    const { delta } = (JSON.parse(data) as Chunk).choices[0]!;
    if (delta!.content) notes.token(read, delta!.content);
  }
  return notes;
}

/**
 * guidellm and aiperf: the first chunk with text is the first token; the stream must end with
 * `[DONE]`.
 */
export function readAsGuidellm(reads: readonly string[]): Reading {
  const notes = new Notes();
  const lines = reads.flatMap((bytes, read) => bytes.split('\n').map((line) => ({ line, read })));
  for (const { line, read } of lines) {
    if (!line.startsWith('data:')) continue;
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') {
      notes.isWhole = true;
      continue;
    }
    const chunk = JSON.parse(data) as Chunk;
    if (textIn(chunk) !== '') notes.token(read, textIn(chunk));
    if (chunk.usage != null) notes.completionTokens = chunk.usage.completion_tokens;
  }
  return notes;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
