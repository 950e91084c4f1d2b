import { assert, chainBlockHashes, hashString, mix } from '@baton/kernel';
import type { SequenceFacts } from './given-answer';
import type { OutputPlan, PlanInput } from './output-plan';
import { SegmentedPlan } from './segmented-plan';
import { writeContent } from './write-content';

/**
 * Number of choices of one prompt with different structured texts. Further choices repeat them.
 */
const STRUCTURED_CHOICES = 32;

/**
 * The whole output of one sequence, fixed at admission. It depends only on its input: not on time,
 * ids, engine, cache or preemption. Without stop conditions, the sentences under a lower
 * `maxTokens` are a prefix of those under a higher one; a structured text is written to fit its
 * limit instead.
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
  const written = writeContent({ input, maxTokens, minTokens, ...seeds }, given);
  return { count: written.tokenIds.length, hash, segments: undefined, ...written };
}

/** The facts from which an answer that the user wrote is chosen. */
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

/** Hash of a prompt, a model and a seed. Random choices of a request are drawn from it. */
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

/** Whether the first word has no leading space, as after white space and special tokens. */
function startsBare({ promptIds, tokenizer }: PlanInput): boolean {
  const last = promptIds[promptIds.length - 1];
  if (last === undefined || tokenizer.special.has(last)) return true;
  return /\s$/.test(tokenizer.tokenText(last));
}
