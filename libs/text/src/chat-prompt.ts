import type { ChatTemplate, ChatTurn } from './templates/chat-template';
import { CHATML } from './templates/chatml';
import { encodeMarkup, type Markup } from './templates/markup';
import type { Tokenizer } from './tokenizers/tokenizer';

export interface ChatTemplateOptions {
  /** Default: ChatML. */
  readonly template?: ChatTemplate | undefined;
  /** Whether the prompt ends with the opening of the assistant's turn. Default: true. */
  readonly addGenerationPrompt?: boolean;
  /** Whether the answer begins with reasoning. */
  readonly thinks?: boolean;
  /**
   * Whether the last turn stays open, so that the answer continues it. If so, the prompt opens no
   * other turn.
   */
  readonly continueFinalTurn?: boolean;
  /** Limit of ids. A longer conversation gives exactly `limit + 1` ids. */
  readonly limit?: number;
}

/**
 * The prompt of a conversation as token ids. Markup, content, reasoning and calls are encoded
 * separately. Special tokens therefore come from the template only, and an assistant turn has the
 * ids with which it was generated. The prompt and answer of one turn are a prefix of the next
 * prompt, so a prefix cache finds them.
 */
export function applyChatTemplate(
  tokenizer: Tokenizer,
  turns: readonly ChatTurn[],
  options: ChatTemplateOptions = {},
): Int32Array {
  const { template = CHATML, limit = Infinity } = options;
  const prompt = new ChatPrompt(tokenizer, template, limit);
  const isContinued = options.continueFinalTurn === true;
  const arranged = template.arrange(turns);
  if (template.begin !== undefined) prompt.write([{ marker: template.begin }]);
  for (const [i, turn] of arranged.entries()) {
    prompt.open(turn);
    if (!isContinued || i + 1 < arranged.length) prompt.write(template.closeTurn(turn));
  }
  if (!isContinued && (options.addGenerationPrompt ?? true)) {
    prompt.write(template.answer(options.thinks ?? false));
  }
  return prompt.ids();
}

class ChatPrompt {
  private readonly collected: number[] = [];

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly template: ChatTemplate,
    private readonly limit: number,
  ) {}

  open(turn: ChatTurn): void {
    const { template } = this;
    this.write(template.openTurn(turn));
    if (turn.reasoning !== undefined && turn.reasoning !== '') {
      this.write(template.reasoning.opening);
      this.append(turn.reasoning);
      this.write(template.reasoning.closing);
    }
    if (typeof turn.content === 'string') this.append(turn.content);
    else for (const piece of turn.content) this.append(piece);
    for (const call of turn.calls ?? []) {
      const { opening, closing } = template.call(call.name, call.kind ?? 'function');
      this.write(opening);
      this.append(call.arguments);
      this.write(closing);
    }
  }

  write(markup: Markup): void {
    if (!this.isFull) this.append(encodeMarkup(this.tokenizer, markup));
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
