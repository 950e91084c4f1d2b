import { assert, chainBlockHashes, hashString, mix } from '@baton/kernel';
import type { SequenceFacts } from './given-answer';
import type { OutputPlan, PlanInput } from './output-plan';
import { SegmentedPlan } from './segmented-plan';
import { writeContent } from './write-content';

/** Choices of one prompt that have structured texts of their own; further ones repeat them. */
const STRUCTURED_CHOICES = 32;

/**
 * The whole output of one sequence, fixed at admission. It depends on nothing but its input: not on
 * time, ids, engine, cache or preemption. Without stop conditions a lower `maxTokens` gives a
 * prefix of a higher one's sentences; a structured text is written to fit its limit instead.
 */
export function planOutput(input: PlanInput): OutputPlan {
  assert(input.maxTokens >= 1, 'a sequence has at least one token');
  const hash = sequenceHash(input, input.choice);
  const structuredSeed = sequenceHash(input, input.choice % STRUCTURED_CHOICES);
  const given = input.answers?.({ hash, tokens: naturalTokens(input, hash) }) ?? {};
  const seeds = { hash, structuredSeed, startsBare: startsBare(input) };
  if (input.tools !== undefined || input.reasoning !== undefined) {
    return new SegmentedPlan(input, seeds, given).make();
  }
  const { maxTokens, minTokens } = input;
  const written = writeContent({ ...seeds, input, maxTokens, minTokens }, given);
  return { ...written, count: written.tokenIds.length, hash, segments: undefined };
}

/** What the answer of a sequence is chosen by, where one is given. */
export function sequenceFacts(
  input: LengthInput & Pick<PlanInput, 'promptIds' | 'model' | 'choice'>,
): SequenceFacts {
  const hash = sequenceHash(input, input.choice);
  return { hash, tokens: naturalTokens(input, hash) };
}

type LengthInput = Pick<PlanInput, 'lengthModel' | 'seed' | 'maxTokens' | 'ignoreEos'>;

function naturalTokens(
  { lengthModel, seed, maxTokens, ignoreEos }: LengthInput,
  hash: number,
): number {
  return ignoreEos ? maxTokens : Math.min(maxTokens, lengthModel(seed, hash));
}

/** Names a prompt to a model under a seed: what hangs on the request draws its chances from it. */
export function promptHash(input: Pick<PlanInput, 'promptIds' | 'model' | 'seed'>): number {
  return sequenceHash(input, 0);
}

function sequenceHash(
  { promptIds, model, seed }: Pick<PlanInput, 'promptIds' | 'model' | 'seed'>,
  choice: number,
): number {
  const prompt = promptIds.length === 0 ? 0 : chainBlockHashes(promptIds, promptIds.length, 0)[0]!;
  return mix(mix(prompt, hashString(model)), mix(Math.abs(seed), choice * 2 + (seed < 0 ? 1 : 0)));
}

/** After white space and special tokens a word needs no space of its own. */
function startsBare({ promptIds, tokenizer }: PlanInput): boolean {
  const last = promptIds[promptIds.length - 1];
  if (last === undefined || tokenizer.special.has(last)) return true;
  return /\s$/.test(tokenizer.tokenText(last));
}
