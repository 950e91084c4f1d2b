import { callMarkup, REASONING_END, type ToolKind } from './tool-calls';
import type { Tokenizer } from './tokenizer';

/** Text, or pieces of text and of token ids that stand for something else. */
export type TurnContent = string | readonly (string | readonly number[])[];

/** One turn of a conversation. */
export interface ChatTurn {
  readonly role: string;
  readonly name?: string;
  readonly content: TurnContent;
  /** Of an assistant: what it thought before the content. */
  readonly reasoning?: string;
  /** Of an assistant: tools that it called, after the content. */
  readonly calls?: readonly TurnCall[];
}

export interface TurnCall {
  readonly name: string;
  readonly arguments: string;
  /** Default `function`. */
  readonly kind?: ToolKind;
}

export interface ChatTemplateOptions {
  /** Opens the assistant's turn; default true. */
  readonly addGenerationPrompt?: boolean;
  /** Leaves the last turn open, so that the answer goes on with it. Then no other turn is opened. */
  readonly continueFinalTurn?: boolean;
  /** Stops early: a longer conversation gives exactly `limit + 1` ids. */
  readonly limit?: number;
}

/**
 * The prompt of a conversation in ChatML: `<|im_start|>role\ncontent<|im_end|>\n` per turn. Header, content, calls and line break are encoded
 * apart, so special tokens come from here only, and an answer that comes back as an assistant turn has the ids it was generated
 * with: the prompt and answer of one turn are a prefix of the next turn's prompt, as a prefix cache needs it.
 */
export function applyChatTemplate(
  tokenizer: Tokenizer,
  turns: readonly ChatTurn[],
  options: ChatTemplateOptions = {},
): Int32Array {
  const prompt = new ChatPrompt(tokenizer, options.limit ?? Infinity);
  const isContinued = options.continueFinalTurn === true;
  turns.forEach((turn, i) => {
    prompt.open(turn);
    if (!isContinued || i + 1 < turns.length) prompt.close();
  });
  if (!isContinued && (options.addGenerationPrompt ?? true)) {
    prompt.open({ role: 'assistant', content: '' });
  }
  return prompt.ids();
}

class ChatPrompt {
  private readonly collected: number[] = [];
  private readonly lineBreak: readonly number[];

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly limit: number,
  ) {
    this.lineBreak = tokenizer.encode('\n');
  }

  open(turn: ChatTurn): void {
    if (this.isFull) return;
    this.collected.push(this.tokenizer.special.imStart);
    this.append(headerOf(turn));
    if (turn.reasoning !== undefined && turn.reasoning !== '') {
      this.append(turn.reasoning);
      this.append(REASONING_END);
    }
    if (typeof turn.content === 'string') this.append(turn.content);
    else for (const piece of turn.content) this.append(piece);
    for (const call of turn.calls ?? []) {
      const { opening, closing } = callMarkup(call.name, call.kind ?? 'function');
      this.append(opening);
      this.append(call.arguments);
      this.append(closing);
    }
  }

  close(): void {
    if (this.isFull) return;
    this.collected.push(this.tokenizer.special.imEnd);
    for (const id of this.lineBreak) this.collected.push(id);
  }

  ids(): Int32Array {
    if (this.isFull) this.collected.length = this.limit + 1;
    return Int32Array.from(this.collected);
  }

  private get isFull(): boolean {
    return this.collected.length > this.limit;
  }

  private append(piece: string | readonly number[]): void {
    if (this.isFull) return;
    const ids = typeof piece === 'string' ? this.tokenizer.encode(piece, this.limit) : piece;
    for (const id of ids) this.collected.push(id);
  }
}

function headerOf(turn: ChatTurn): string {
  return turn.name === undefined ? `${turn.role}\n` : `${turn.role} name=${turn.name}\n`;
}
