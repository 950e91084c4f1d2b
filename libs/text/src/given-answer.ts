import type { StructuredText } from './structured/structured-text';
import { constantText } from './structured/text-parts';
import type { OfferedTool, ToolOffer } from './tool-calls';

/**
 * An answer that the user wrote, in place of a simulated one. Parts that it leaves out are
 * simulated.
 */
export interface GivenAnswer {
  readonly content?: string | undefined;
  /** Used when the request enables reasoning. */
  readonly reasoning?: string | undefined;
  /** Calls of tools that the request offers. Calls of other tools are left out. */
  readonly calls?: readonly GivenCall[] | undefined;
  /**
   * True: an answer that misses the request's schema is sent unchanged. False: such an answer is
   * simulated instead. Default: false.
   */
  readonly isAsWritten?: boolean | undefined;
}

export interface GivenCall {
  readonly name: string;
  /** JSON for a function, any text for a custom tool. Undefined: simulated. */
  readonly arguments: string | undefined;
}

/** The facts of a sequence from which its answer is chosen. */
export interface SequenceFacts {
  /** Hash of prompt, model, seed and choice. */
  readonly hash: number;
  /** Number of tokens of a simulated answer; at most the limit of the request. */
  readonly tokens: number;
}

/**
 * Chooses the answer of a sequence, from its argument alone. Undefined: the answer is simulated.
 */
export type AnswerSource = (sequence: SequenceFacts) => GivenAnswer | undefined;

/** The given calls that the offer allows. Undefined: there are none, and the offer decides. */
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

/** Whether the test of a constraint accepts a text. */
export function isAccepted(constraint: StructuredText, text: string): boolean {
  return constraint.accepts?.(text) ?? false;
}
