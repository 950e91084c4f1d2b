import { WorkloadBuilder } from '@baton/workload';
import { type ConstantBatch, constantBatch } from './constant-batch';
import { failed } from './measure-prompts';
import type { Measuring } from './measuring';
import { median } from './statistics';
import type { Answered, LiveTarget } from './target';

/** Decode steps of a batch that stayed the same; medians over the rounds, ms. */
export interface DecodePoint {
  readonly sequences: number;
  /** Tokens that one sequence attends to. */
  readonly context: number;
  readonly stepMs: number;
  readonly roundsMs: readonly number[];
  /** Mean gap / the gap that counts: above 1 by what pauses take. */
  readonly pauses: number;
}

export interface DecodeCell {
  readonly batch: number;
  readonly context: number;
}

/** Gaps of each stream that a round has to see at least. */
const WANTED_GAPS = 32;
const FEWEST_GAPS = 18;
/** Longer outputs are not asked for. */
const MOST_TOKENS = 2_048;
const MOST_TRIES = 5;

/**
 * Lets so many streams start together, and looks at the gaps between their tokens while all of them decode.
 *
 * @param engines  that decode: each is taken to get its share of the streams
 */
export async function measureDecode(
  measuring: Measuring,
  cells: readonly DecodeCell[],
  engines = 1,
): Promise<readonly DecodePoint[]> {
  const points: DecodePoint[] = [];
  for (const cell of cells) {
    const { batch, context } = cell;
    const what = `decode of ${batch} × ${context} tokens`;
    const point = await measureCell(measuring, cell, engines);
    if (typeof point === 'string') measuring.say(`${what} is left out: ${point}`);
    else {
      points.push(point);
      measuring.say(`${what}: ${point.stepMs.toFixed(2)} ms a step`);
    }
  }
  return points;
}

/** A sentence says why there is no point. */
async function measureCell(
  { target, rounds, maxModelLen }: Measuring,
  { batch, context }: DecodeCell,
  engines: number,
): Promise<DecodePoint | string> {
  const most = Math.min(MOST_TOKENS, maxModelLen - context);
  let tokens = Math.min(most, WANTED_GAPS + 1 + 2 * batch * engines);
  const seen: ConstantBatch[] = [];
  for (let tries = 0; seen.length < rounds;) {
    if (tokens < FEWEST_GAPS + 1) return 'its prompt leaves no room for an output';
    const answers = await burst(target, { batch: batch * engines, context, tokens });
    const window = constantBatch(answers);
    if (window !== undefined && window.gaps >= FEWEST_GAPS) {
      seen.push(window);
      continue;
    }
    tries += 1;
    const longer = Math.min(most, longEnough(answers, tokens));
    if (tries === MOST_TRIES || longer <= tokens) {
      return `its streams do not decode together long enough with ${tokens} tokens each`;
    }
    tokens = longer;
  }
  return {
    sequences: batch,
    context: median(seen.map((window) => window.context)),
    stepMs: median(seen.map(({ stepMs }) => stepMs)),
    roundsMs: seen.map(({ stepMs }) => stepMs),
    pauses: median(seen.map(({ meanMs, stepMs }) => meanMs / stepMs)),
  };
}

async function burst(
  target: LiveTarget,
  { batch, context, tokens }: DecodeCell & { readonly tokens: number },
): Promise<readonly Answered[]> {
  const builder = new WorkloadBuilder();
  for (let i = 0; i < batch; i++) {
    builder.add({ arrivalUs: 0, promptTokens: context, outputTokens: tokens });
  }
  const { answers, failures } = await target.run(builder.build());
  const whole = answers.filter((answer) => answer !== undefined);
  if (whole.length < batch) throw failed(failures);
  return whole;
}

/** Tokens that the first stream gives while the last one's prompt is still being computed, and those that are to be seen. */
function longEnough(answers: readonly Answered[], tokens: number): number {
  const firsts = answers.map(({ startMs, ttftMs }) => startMs + ttftMs);
  const staggerMs = Math.max(...firsts) - Math.min(...firsts);
  const [first] = answers.toSorted((a, b) => a.startMs + a.ttftMs - (b.startMs + b.ttftMs));
  const gapMs = median(Array.from(first?.gapsMs ?? []));
  const meanwhile = gapMs > 0 ? Math.ceil(staggerMs / gapMs) : tokens;
  return Math.max(2 * tokens, meanwhile + WANTED_GAPS);
}
