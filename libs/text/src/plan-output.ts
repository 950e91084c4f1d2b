import { assert, chainBlockHashes, hashString, mix } from '@baton/kernel';
import type { OutputPlan, PlanInput, TextCut } from './output-plan';
import { SentenceGenerator } from './sentence-generator';
import { StopSearch } from './stop-search';
import { vocabularyOf } from './vocabulary';

/**
 * The whole output of one sequence, fixed at admission. It depends on nothing but its input: not on time, ids, engine, cache or
 * preemption. Without stop conditions a lower `maxTokens` gives a prefix of a higher one's tokens.
 *
 * The length model says where the text ends by itself (never before `minTokens`); the tokens end there with `stop`, or at `maxTokens`
 * with `length`. An end exactly at the limit is a `length`: the end token itself is not part of the output and would need one more.
 * With `ignoreEos` only the limit and stop conditions end it.
 */
export function planOutput(input: PlanInput): OutputPlan {
  assert(input.maxTokens >= 1, 'a sequence has at least one token');
  const hash = sequenceHash(input);
  const endAt = Math.max(1, input.minTokens, Math.round(input.lengthModel(input.seed, hash)));
  const endsByItself = !input.ignoreEos && endAt < input.maxTokens;
  const tokens = new SentenceGenerator(vocabularyOf(input.tokenizer), hash % 2 ** 32, {
    endAt,
    startsBare: startsBare(input),
  });
  const count = endsByItself ? endAt : input.maxTokens;
  const endReason = endsByItself ? 'stop' : 'length';
  if (input.stop.length === 0 && input.stopTokenIds.length === 0) {
    const tokenIds = new Int32Array(count);
    for (let i = 0; i < count; i++) tokenIds[i] = tokens.next();
    return { tokenIds, count, endReason, stopReason: null, hash, cut: undefined };
  }
  return new StoppableOutput(input, hash).run(tokens, count, endReason);
}

/** Generates while looking for stop strings and stop tokens. */
class StoppableOutput {
  private readonly search: StopSearch;
  private readonly ids: number[] = [];
  private readonly ends: number[] = [];
  private readonly stopTokens: ReadonlySet<number>;

  constructor(
    private readonly input: PlanInput,
    private readonly hash: number,
  ) {
    this.search = new StopSearch(input.stop, input.minTokens);
    this.stopTokens = new Set(input.stopTokenIds);
  }

  run(tokens: SentenceGenerator, limit: number, endReason: 'stop' | 'length'): OutputPlan {
    while (this.ids.length < limit) {
      const id = tokens.next();
      const before = this.search.length;
      const hit = this.search.add(this.input.tokenizer.tokenText(id));
      this.ids.push(id);
      this.ends.push(this.search.length);
      if (this.stopTokens.has(id) && this.ids.length >= this.input.minTokens) {
        return this.plan('stop', id, this.input.includeStop ? undefined : before);
      }
      if (hit !== undefined) {
        const cutAt = this.input.includeStop ? hit.at + hit.string.length : hit.at;
        return this.plan('stop', hit.string, cutAt);
      }
    }
    return this.plan(endReason, null, undefined);
  }

  private plan(
    endReason: 'stop' | 'length',
    stopReason: string | number | null,
    cutAt: number | undefined,
  ): OutputPlan {
    const cut: TextCut = {
      text: this.search.text.slice(0, cutAt),
      ends: Uint32Array.from(this.ends),
      heldBack: this.input.includeStop ? 0 : this.search.heldBack,
    };
    const tokenIds = Int32Array.from(this.ids);
    return { tokenIds, count: tokenIds.length, endReason, stopReason, hash: this.hash, cut };
  }
}

/** The visible text of the first `count` tokens once the sequence has ended there. */
export function visibleText(
  tokenizer: PlanInput['tokenizer'],
  plan: OutputPlan,
  count = plan.count,
): string {
  if (plan.cut === undefined) return tokenizer.decode(plan.tokenIds.subarray(0, count));
  const end = count === 0 ? 0 : (plan.cut.ends[count - 1] ?? plan.cut.text.length);
  return plan.cut.text.slice(0, end);
}

function sequenceHash(input: PlanInput): number {
  const { promptIds, model, seed, choice } = input;
  const prompt = promptIds.length === 0 ? 0 : chainBlockHashes(promptIds, promptIds.length, 0)[0]!;
  return mix(mix(prompt, hashString(model)), mix(Math.abs(seed), choice * 2 + (seed < 0 ? 1 : 0)));
}

/** After white space and special tokens a word needs no space of its own. */
function startsBare({ promptIds, tokenizer }: PlanInput): boolean {
  const last = promptIds[promptIds.length - 1];
  if (last === undefined || Object.values(tokenizer.special).includes(last)) return true;
  return /\s$/.test(tokenizer.tokenText(last));
}
