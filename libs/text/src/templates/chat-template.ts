import type { ToolKind } from '../tool-calls';
import type { Marker } from '../tokenizers/markers';
import type { JinjaTemplate } from './jinja-template';
import type { Markup } from './markup';

/** Text, or pieces of text and of token ids (for images and the like). */
export type TurnContent = string | readonly (string | readonly number[])[];

/** One turn of a conversation. */
export interface ChatTurn {
  readonly role: string;
  readonly name?: string;
  readonly content: TurnContent;
  /** Reasoning before the content; only on assistant turns. */
  readonly reasoning?: string;
  /** Tools called after the content; only on assistant turns. */
  readonly calls?: readonly TurnCall[];
}

export interface TurnCall {
  readonly name: string;
  readonly arguments: string;
  /** Default: `function`. */
  readonly kind?: ToolKind;
}

/** The markup around the arguments of a call. */
export interface CallMarkup {
  readonly opening: Markup;
  readonly closing: Markup;
}

/**
 * The format in which a family of models writes conversations. An assistant turn has the ids with
 * which its answer was generated: `answer` equals `openTurn` for that turn, and answers write
 * reasoning and calls as turns do.
 */
export interface ChatTemplate {
  readonly name: string;
  /**
   * The template of the operator or of the model's folder. It writes the prompts; the rest of this
   * object is that of the nearest family, and writes the answers.
   */
  readonly jinja?: JinjaTemplate;
  /** Written before the first turn. */
  readonly begin: Marker | undefined;
  /** Ends an answer. */
  readonly end: Marker;
  /** The turns as the model's own template arranges them, including its preface. */
  arrange(turns: readonly ChatTurn[]): readonly ChatTurn[];
  openTurn(turn: ChatTurn): Markup;
  closeTurn(turn: ChatTurn): Markup;
  /** The opening of the answer. */
  answer(thinks: boolean): Markup;
  /** The markup around the reasoning before an answer. */
  readonly reasoning: { readonly opening: Markup; readonly closing: Markup };
  call(name: string, kind: ToolKind): CallMarkup;
  /** The text that describes tools in the prompt. */
  describeTools(definitions: readonly object[]): string;
}

/**
 * The markup of a custom tool's call. Only OpenAI has custom tools: no model's template covers
 * them.
 */
export function customCall(name: string): CallMarkup {
  return {
    opening: [`<custom_call name=${JSON.stringify(name)}>\n`],
    closing: ['\n</custom_call>\n'],
  };
}

/** Several contents as one, joined by `between`. */
export function joinedContent(contents: readonly TurnContent[], between: string): TurnContent {
  if (contents.every((content) => typeof content === 'string')) return contents.join(between);
  return contents.flatMap((content, i) => {
    const pieces = typeof content === 'string' ? [content] : content;
    return i === 0 ? pieces : [between, ...pieces];
  });
}
