import { RandomStream } from '@baton/kernel';
import type { StructuredText } from './structured/structured-text';

/** Maximum number of calls in one answer. */
const MAX_CALLS = 4;

/** `function`: the arguments are JSON. `custom`: the input is any text. */
export type ToolKind = 'function' | 'custom';

/** A tool that the answer can call. */
export interface OfferedTool {
  readonly kind: ToolKind;
  readonly name: string;
  /** Arguments of a function, or input of a custom tool. */
  readonly arguments: StructuredText;
}

/** The tools of a request, and the rules for calling them. */
export interface ToolOffer {
  /** Tools that the answer can call; at least one. */
  readonly tools: readonly OfferedTool[];
  /** Names of tools that are called before all others. Undefined or empty: all are equal. */
  readonly preferred?: readonly string[];
  /** True: at least one tool is called. False: a draw decides. */
  readonly isRequired: boolean;
  /** Whether one answer can have several calls. */
  readonly isParallel: boolean;
  /** Chance of a call where none is required, in [0, 1]. */
  readonly callProbability: number;
  /** Chance of each further call, in [0, 1]. */
  readonly extraCallProbability: number;
  /** Maximum number of calls in one answer, from 1. */
  readonly maxCalls?: number;
}

/** The calls of an answer, drawn from the offer and the seed alone. Empty: the answer is text. */
export function decideCalls(offer: ToolOffer, seed: number): readonly OfferedTool[] {
  const random = RandomStream.root(seed).stream('tool calls');
  const isWanted = random.unit() < offer.callProbability;
  if (!offer.isRequired && !isWanted) return [];
  const tools = callable(offer);
  const pick = (): OfferedTool => tools[random.integer(tools.length)]!;
  const calls = [pick()];
  const most = Math.min(MAX_CALLS, offer.maxCalls ?? MAX_CALLS);
  while (offer.isParallel && calls.length < most && random.unit() < offer.extraCallProbability) {
    calls.push(pick());
  }
  return calls;
}

function callable({ tools, preferred }: ToolOffer): readonly OfferedTool[] {
  const first = tools.filter(({ name }) => preferred?.includes(name));
  return first.length === 0 ? tools : first;
}
