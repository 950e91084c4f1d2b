import { RandomStream } from '@baton/kernel';
import type { StructuredText } from '@baton/structured';

/** More calls than this are never made at once. */
const MAX_CALLS = 4;

/** `function`: its arguments are JSON. `custom`: its input is any text. */
export type ToolKind = 'function' | 'custom';

/** A tool that may be called. */
export interface OfferedTool {
  readonly kind: ToolKind;
  readonly name: string;
  /** Arguments, or input. */
  readonly arguments: StructuredText;
}

/** The functions of a request and what is known of how to use them. */
export interface ToolOffer {
  /** Those that may be called: at least one. */
  readonly tools: readonly OfferedTool[];
  /** Names of those that are called before all others; default and without any: all alike. */
  readonly preferred?: readonly string[];
  /** True: at least one is called. False: chance decides. */
  readonly isRequired: boolean;
  /** Several calls in one answer are allowed. */
  readonly isParallel: boolean;
  /** Chance of a call where none is required, in [0, 1]. */
  readonly callProbability: number;
  /** Chance of each further call, in [0, 1]. */
  readonly extraCallProbability: number;
  /** Most calls of one answer, from 1. */
  readonly maxCalls?: number;
}

/** The calls that an answer makes; none when it is text. A function of the offer and the seed. */
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
