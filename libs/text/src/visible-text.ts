import type { OutputPlan, PlanSegment, TextCut } from './output-plan';
import { StopSearch } from './stop-search';
import type { Tokenizer } from './tokenizers/tokenizer';

/** The visible content of a sequence that ended after `count` tokens. */
export function visibleText(tokenizer: Tokenizer, plan: OutputPlan, count = plan.count): string {
  if (plan.segments === undefined) {
    return decodedText(tokenizer, plan.tokenIds.subarray(0, count), plan.cut);
  }
  const contents = plan.segments.filter(({ kind }) => kind === 'content');
  return contents.map((segment) => segmentText(tokenizer, { plan, segment, count })).join('');
}

/** The visible text of one segment of a sequence that ended after `count` tokens. */
export function segmentText(
  tokenizer: Tokenizer,
  { plan, segment, count }: { plan: OutputPlan; segment: PlanSegment; count: number },
): string {
  const to = Math.max(segment.from, Math.min(segment.to, count));
  return decodedText(tokenizer, plan.tokenIds.subarray(segment.from, to), segment.cut);
}

function decodedText(tokenizer: Tokenizer, ids: Int32Array, cut: TextCut | undefined): string {
  if (cut === undefined) return tokenizer.decode(ids);
  const end = ids.length === 0 ? 0 : (cut.ends[ids.length - 1] ?? cut.text.length);
  return cut.text.slice(0, end);
}

/** The stop string or stop token that ended a sequence; null: neither did. */
export interface EndedBy {
  readonly stopReason: string | number | null;
  readonly includeStop: boolean;
}

/** The visible text of tokens that are known by their ids, cut as in a plan. */
export function textOfIds(
  tokenizer: Tokenizer,
  ids: readonly number[],
  { stopReason, includeStop }: EndedBy,
): string {
  if (typeof stopReason !== 'string') {
    const isCut = !includeStop && ids.at(-1) === stopReason;
    return tokenizer.decode(isCut ? ids.slice(0, -1) : ids);
  }
  const search = new StopSearch([stopReason], ids.length - 1);
  const found = ids.map((id) => search.add(tokenizer.tokenText(id))).at(-1);
  if (found === undefined) return tokenizer.decode(ids);
  return search.text.slice(0, found.at + (includeStop ? stopReason.length : 0));
}
