import type { StructuredText } from '@baton/structured';
import { constantText } from '@baton/structured';
import type { OfferedTool, ToolOffer } from './tool-calls';

/**
 * An answer written by the user, in place of a simulated one. What it does not give is simulated.
 */
export interface GivenAnswer {
  readonly content?: string | undefined;
  /** Shown where the request has the model think. */
  readonly reasoning?: string | undefined;
  /** Calls of tools that the request offers; others are left out. */
  readonly calls?: readonly GivenCall[] | undefined;
  /**
   * True: also what misses the request's schema goes out as it is. Default false: it is simulated
   * instead.
   */
  readonly isAsWritten?: boolean | undefined;
}

export interface GivenCall {
  readonly name: string;
  /** JSON of a function, any text of a custom tool; undefined: simulated. */
  readonly arguments: string | undefined;
}

/** What is known of a sequence when its answer is chosen. */
export interface SequenceFacts {
  /** Names (prompt, model, seed, choice). */
  readonly hash: number;
  /** Tokens that a simulated answer would have, at most the limit of the request. */
  readonly tokens: number;
}

/** Chooses the answer of a sequence; undefined: it is simulated. A function of its argument. */
export type AnswerSource = (sequence: SequenceFacts) => GivenAnswer | undefined;

/**
 * The given calls as the offer allows them; undefined where there are none and the offer decides.
 */
export function givenCalls(
  { calls, content, isAsWritten }: GivenAnswer,
  offer: ToolOffer,
): readonly OfferedTool[] | undefined {
  const offered = (calls ?? []).flatMap((call) => {
    const tool = offer.tools.find(({ name }) => name === call.name);
    return tool === undefined ? [] : [calledAs(tool, call, isAsWritten === true)];
  });
  const most = offer.isParallel ? (offer.maxCalls ?? Infinity) : 1;
  if (offered.length > 0) return offered.slice(0, most);
  return content !== undefined && !offer.isRequired ? [] : undefined;
}

function calledAs(tool: OfferedTool, call: GivenCall, isAsWritten: boolean): OfferedTool {
  const text = call.arguments;
  if (text === undefined || !(isAsWritten || isAccepted(tool.arguments, text))) return tool;
  return { ...tool, arguments: constantText(text) };
}

/** Whether a text is known to meet a constraint. */
export function isAccepted(constraint: StructuredText, text: string): boolean {
  return constraint.accepts?.(text) ?? false;
}
