import type { ToolKind } from '../tool-calls';
import type { Marker } from '../tokenizers/markers';
import type { Markup } from './markup';

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

/** What stands around the arguments of a call. */
export interface CallMarkup {
  readonly opening: Markup;
  readonly closing: Markup;
}

/**
 * How a family of models writes conversations. An answer that comes back as a turn of the assistant
 * has the ids it was generated with: `answer` is what `open` gives for that turn, and answers spell
 * reasoning and calls as turns do.
 */
export interface ChatTemplate {
  readonly name: string;
  /** The text of the model's own, where its folder has one. */
  readonly jinja?: string;
  /** Before the first turn. */
  readonly begin: Marker | undefined;
  /** Ends an answer. */
  readonly end: Marker;
  /** The turns as the model's own template has them: with its preface, in its order. */
  arrange(turns: readonly ChatTurn[]): readonly ChatTurn[];
  open(turn: ChatTurn): Markup;
  close(turn: ChatTurn): Markup;
  /** Opens the answer. */
  answer(thinks: boolean): Markup;
  /** Around the reasoning before an answer. */
  readonly reasoning: { readonly opening: Markup; readonly closing: Markup };
  call(name: string, kind: ToolKind): CallMarkup;
  /** How the prompt describes tools. */
  describeTools(definitions: readonly object[]): string;
}

/** Custom tools are OpenAI's alone: no model's template has them. */
export function customCall(name: string): CallMarkup {
  return {
    opening: [`<custom_call name=${JSON.stringify(name)}>\n`],
    closing: ['\n</custom_call>\n'],
  };
}

/** One content after another. */
export function joinedContent(contents: readonly TurnContent[], between: string): TurnContent {
  if (contents.every((content) => typeof content === 'string')) return contents.join(between);
  return contents.flatMap((content, i) => {
    const pieces = typeof content === 'string' ? [content] : content;
    return i === 0 ? pieces : [between, ...pieces];
  });
}
