import { assert, type Micros } from '@baton/kernel';
import { Column } from '../column';
import type { LengthSpec } from '../length-model';
import { inOrderOfArrival } from '../rows';
import { MOST_TOKENS, type Workload } from '../workload';
import { assertContents } from './single-turn';
import { lengthsFor, workloadStream } from './draw-lengths';

export interface MultiTurnSpec {
  /** Starts of conversations, ascending. `count` decides how many are used. */
  readonly arrivalUs: Float64Array;
  /** Number of requests. The last conversation can be cut. */
  readonly count: number;
  /** Turns per conversation. */
  readonly turns: LengthSpec;
  /** Tokens that the user adds in each turn. */
  readonly message: LengthSpec;
  readonly output: LengthSpec;
  /** Tokens at the start of every conversation, equal for all. */
  readonly systemTokens: number;
  /** Mean of the exponential pause between an answer and the next turn. */
  readonly thinkTimeMeanUs: Micros;
  /**
   * Limit for prompt and output of a turn together. A conversation ends before the first turn
   * beyond it. Its first turn is always sent.
   */
  readonly maxContextTokens: number;
  readonly blockTokens: number;
  readonly seed: number;
}

/**
 * Conversations. Each prompt is the whole history (system prompt, messages, answers) and a new
 * message. It arrives a pause after the previous answer. Contents cover prompt and output, so that
 * a turn finds the KV of all earlier ones. The rows of a conversation are adjacent.
 *
 * @throws WorkloadError when the histories of all turns have more than 2^31 blocks
 */
export function generateMultiTurn(spec: MultiTurnSpec): Workload {
  assert(spec.thinkTimeMeanUs >= 0, 'a pause is not negative');
  const turns = turnsOf(spec);
  const count = turns.promptTokens.length;
  const contents = historyContents(turns, spec);
  return inOrderOfArrival({
    count,
    ...turns,
    maxTokens: new Int32Array(0),
    priority: new Int32Array(0),
    ...contents,
    contentBlockTokens: spec.blockTokens,
    contentSpan: 'sequence',
    requestIdStart: new Float64Array(0),
    requestIdUnits: new Uint16Array(0),
  });
}

type Turns = Pick<Workload, 'arrivalUs' | 'promptTokens' | 'outputTokens' | 'after' | 'session'>;

function turnsOf(spec: MultiTurnSpec): Turns {
  const thinking = workloadStream(spec.seed, 'think-times');
  const turnCount = lengthsFor(spec.turns, spec.seed, 'turns');
  const messageOf = lengthsFor(spec.message, spec.seed, 'messages');
  const outputOf = lengthsFor(spec.output, spec.seed, 'outputs');
  const mostTokens = Math.min(MOST_TOKENS, spec.maxContextTokens);
  const arrivalUs = new Column(Float64Array);
  const promptTokens = new Column(Int32Array);
  const outputTokens = new Column(Int32Array);
  const after = new Column(Int32Array);
  const session = new Column(Float64Array);
  for (let k = 0; k < spec.arrivalUs.length && arrivalUs.length < spec.count; k++) {
    const left = spec.count - arrivalUs.length;
    let history = spec.systemTokens;
    for (let turn = 0; turn < Math.min(turnCount(k), left); turn++) {
      const row = arrivalUs.length;
      const prompt = Math.min(MOST_TOKENS, history + messageOf(row));
      const output = Math.min(MOST_TOKENS, outputOf(row));
      const isFirstTurn = turn === 0;
      if (!isFirstTurn && prompt + output > mostTokens) break;
      arrivalUs.push(
        isFirstTurn ? spec.arrivalUs[k]! : Math.round(thinking.exponential(spec.thinkTimeMeanUs)),
      );
      promptTokens.push(prompt);
      outputTokens.push(output);
      after.push(isFirstTurn ? -1 : row - 1);
      session.push(k + 1);
      history = prompt + output;
    }
  }
  return {
    arrivalUs: arrivalUs.take(),
    promptTokens: promptTokens.take(),
    outputTokens: outputTokens.take(),
    after: after.take(),
    session: session.take(),
  };
}

/**
 * The blocks of the system prompt are 1..n. Those of a conversation follow in one range, since its
 * history only grows.
 */
function historyContents(
  turns: Turns,
  spec: MultiTurnSpec,
): Pick<Workload, 'contentStart' | 'contentIds' | 'contentCount'> {
  const { promptTokens, outputTokens, after } = turns;
  const count = promptTokens.length;
  const common = Math.floor(spec.systemTokens / spec.blockTokens);
  const contentStart = new Float64Array(count + 1);
  for (let row = 0; row < count; row++) {
    const blocks = Math.floor((promptTokens[row]! + outputTokens[row]!) / spec.blockTokens);
    contentStart[row + 1] = contentStart[row]! + blocks;
  }
  assertContents(contentStart[count]!);
  const contentIds = new Int32Array(contentStart[count]!);
  let contentCount = count === 0 ? 0 : common;
  let own = contentCount;
  for (let row = 0; row < count; row++) {
    if (after[row] === -1) own = contentCount;
    const blocks = contentStart[row + 1]! - contentStart[row]!;
    for (let block = 0; block < blocks; block++) {
      contentIds[contentStart[row]! + block] =
        block < common ? block + 1 : own + block - common + 1;
    }
    contentCount = Math.max(contentCount, own + blocks - common);
  }
  return { contentStart, contentIds, contentCount };
}
