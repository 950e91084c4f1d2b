import type { Tokenizer } from './tokenizer';

/** One turn of a conversation, its content already plain text. */
export interface ChatTurn {
  readonly role: string;
  readonly name?: string;
  readonly content: string;
}

export interface ChatTemplateOptions {
  /** Opens the assistant's turn; default true. */
  readonly addGenerationPrompt?: boolean;
  /** Stops early: a longer conversation gives exactly `limit + 1` ids. */
  readonly limit?: number;
}

/**
 * The prompt of a conversation in ChatML: `<|im_start|>role\ncontent<|im_end|>\n` per turn. Header, content and line break are encoded
 * apart, so special tokens come from here only, and an answer that comes back as an assistant turn has the ids it was generated
 * with: the prompt and answer of one turn are a prefix of the next turn's prompt, as a prefix cache needs it.
 */
export function applyChatTemplate(
  tokenizer: Tokenizer,
  turns: readonly ChatTurn[],
  options: ChatTemplateOptions = {},
): Int32Array {
  const limit = options.limit ?? Infinity;
  const { imStart, imEnd } = tokenizer.special;
  const lineBreak = tokenizer.encode('\n');
  const ids: number[] = [];
  const append = (more: readonly number[]): void => {
    for (const id of more) ids.push(id);
  };
  for (const turn of turns) {
    if (ids.length > limit) break;
    ids.push(imStart);
    append(tokenizer.encode(headerOf(turn)));
    append(tokenizer.encode(turn.content, limit));
    ids.push(imEnd);
    append(lineBreak);
  }
  if (options.addGenerationPrompt ?? true) {
    ids.push(imStart);
    append(tokenizer.encode('assistant\n'));
  }
  if (ids.length > limit) ids.length = limit + 1;
  return Int32Array.from(ids);
}

function headerOf(turn: ChatTurn): string {
  return turn.name === undefined ? `${turn.role}\n` : `${turn.role} name=${turn.name}\n`;
}
