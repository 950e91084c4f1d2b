import type { EngineOptions } from '@baton/engine';
import { hashString } from '@baton/kernel';
import { Speculation } from '../../libs/engine/src/speculation';
import { Draw } from './draw';
import { withFailures, withHolds, withPartsOfPrompts } from './transfers';

/** Chance that a drafted token is right. */
export const ACCEPTANCE_RATE = 0.7;

/** Tokens `from` of the made-up text with the number `base`, and how many follow. */
export type Segment = readonly [base: number, tokens: number];

export interface WorkloadOptions {
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly blockSize: number;
  /** Blocks that can be used: vLLM sets one more aside as the null block. */
  readonly numBlocks: number;
  readonly maxModelLen: number;
  readonly longPrefillTokenThreshold: number;
  readonly enablePrefixCaching: boolean;
  readonly enableChunkedPrefill: boolean;
  readonly schedulingPolicy: 'fcfs' | 'priority';
  readonly schedulerReserveFullIsl: boolean;
  /** Requests may bring KV from elsewhere. */
  readonly connector: boolean;
  readonly specTokens: number;
  /** What drafts. Unset: something that needs no KV, as n-grams. */
  readonly drafter?: 'draft-model' | 'eagle';
  readonly watermarkBlocks: number;
  /** As vLLM's `async_scheduling`. Unset: off. */
  readonly asyncScheduling?: true;
  /** Pipeline stages, each with a batch in flight. Unset: one. */
  readonly stages?: number;
  /** Unset: one group of layers, which keeps the whole context. */
  readonly kvGroups?: NonNullable<EngineOptions['kvGroups']>;
  /** Our side has the blocks' contents; without, as from a trace of lengths, no text is shared. */
  readonly namesContents: boolean;
}

export interface WorkloadRequest {
  /** It comes before this step, or this many steps after `after` has ended. */
  readonly step: number;
  readonly after?: number;
  readonly prompt: readonly Segment[];
  /** The text that the output repeats from its beginning. */
  readonly base: number;
  readonly out: number;
  /** Its limit of tokens: above `out` when it stops by itself. */
  readonly max: number;
  readonly stops: boolean;
  readonly priority: number;
  readonly arrival: number;
  readonly abortAfter?: number;
  /** Leading prompt tokens that come from elsewhere, and the number of steps for that. */
  readonly remote?: number;
  readonly loadSteps?: number;
  /** That KV does not arrive: the prompt is computed here. */
  readonly fails?: boolean;
  /** Its blocks are held when it ends, until they have been sent, this many steps later. */
  readonly sendSteps?: number;
  /** It computes a prompt for another engine, and gets one token. */
  readonly prefills?: boolean;
  /** Drafted tokens that are right when this many tokens are out. */
  readonly accepts?: readonly number[];
}

export interface Workload {
  readonly seed: number;
  readonly options: WorkloadOptions;
  readonly requests: readonly WorkloadRequest[];
}

/** Text numbers of outputs begin here, above those of prompts. */
const OUTPUTS = 100_000;

/** Every kind of workload, in turn: the seeds draw different kinds. */
export function workloadOf(seed: number): Workload {
  const drawOf = (name: string): Draw => new Draw(seed, name);
  const draw = drawOf('vllm-scheduler');
  const options = withDrafter(withGroups(optionsOf(draw), drawOf('groups')), drawOf('drafter'));
  const count = draw.between(2, 14);
  const requests: WorkloadRequest[] = [];
  let step = 0;
  for (let i = 0; i < count; i++) {
    step += draw.chance(0.5) ? 0 : draw.between(0, 6);
    requests.push(requestOf({ draw, options, index: i, step, earlier: requests }));
  }
  const inParts = withPartsOfPrompts(requests, options, drawOf('parts-of-prompts'));
  const held = withHolds(inParts, options, drawOf('sending'));
  const lossy = withFailures(held, drawOf('failed-loads'));
  return { seed, options, requests: lossy.map((request, i) => drafted(request, i)) };

  function drafted(request: WorkloadRequest, index: number): WorkloadRequest {
    if (options.specTokens === 0) return request;
    const tokens = options.specTokens;
    const speculation = new Speculation({ tokens, acceptanceRate: ACCEPTANCE_RATE }, seed);
    const hash = hashString(String(index));
    const given = Array.from({ length: request.out + 1 }, (_, i) => i);
    return { ...request, accepts: given.map((first) => speculation.accepted(hash, first)) };
  }
}

/** The same workload for an engine that forms batches ahead. */
export function asyncWorkloadOf(seed: number): Workload {
  const workload = workloadOf(seed);
  return { ...workload, options: { ...workload.options, asyncScheduling: true } };
}

/** Like it, for an engine with pipeline stages: without drafts and KV from elsewhere. */
export function pipelineWorkloadOf(seed: number): Workload {
  const { options: drawn, requests } = workloadOf(seed);
  const { drafter: _drafter, ...options } = drawn;
  const stages = new Draw(seed, 'stages').between(2, 4);
  return {
    seed,
    options: { ...options, connector: false, specTokens: 0, stages },
    requests: requests.map(
      ({ remote: _remote, loadSteps: _steps, fails: _fails, sendSteps, prefills, ...request }) => {
        void [sendSteps, prefills];
        return request;
      },
    ),
  };
}

/** Like it, with batches formed ahead as well. */
export function asyncPipelineWorkloadOf(seed: number): Workload {
  const workload = pipelineWorkloadOf(seed);
  return { ...workload, options: { ...workload.options, asyncScheduling: true } };
}

function optionsOf(draw: Draw): WorkloadOptions {
  const blockSize = draw.oneOf([1, 2, 4, 4, 8, 16]);
  const enableChunkedPrefill = draw.chance(0.8);
  const maxModelLen = blockSize * draw.between(16, 40);
  const maxNumSeqs = draw.oneOf([1, 2, 3, 4, 8, 16]);
  const specTokens = draw.chance(0.2) ? draw.between(1, 4) : 0;
  // All drafts fit the budget, whatever else runs: see docs/engine.md.
  const least = Math.max(maxNumSeqs * (1 + specTokens), 4);
  const budget = draw.between(least, Math.max(least, draw.oneOf([16, 64, 256])));
  // vLLM starts only when the longest sequence fits; without drafts that makes no difference here.
  const leastBlocks = specTokens > 0 ? maxModelLen / blockSize : 12;
  const isCapped = specTokens === 0 && draw.chance(0.3);
  return {
    maxNumSeqs,
    // Without chunks a budget below the longest prompt would let it wait forever.
    maxNumBatchedTokens: enableChunkedPrefill ? budget : maxModelLen + budget,
    blockSize,
    numBlocks: draw.chance(0.6) ? draw.between(leastBlocks, 40) : draw.between(40, 400),
    maxModelLen,
    longPrefillTokenThreshold: isCapped ? draw.between(2, 40) : 0,
    enablePrefixCaching: draw.chance(0.75),
    enableChunkedPrefill,
    schedulingPolicy: draw.chance(0.3) ? 'priority' : 'fcfs',
    schedulerReserveFullIsl: draw.chance(0.7),
    connector: draw.chance(0.35),
    specTokens,
    namesContents: draw.chance(0.75),
    watermarkBlocks: draw.chance(0.15) ? draw.between(1, 4) : 0,
  };
}

/**
 * Some have groups of layers with a window; each group has blocks of its own. Their contents have
 * names. With a connector, these too get KV from elsewhere.
 */
function withGroups(options: WorkloadOptions, draw: Draw): WorkloadOptions {
  if (!draw.chance(0.3)) return options;
  const { blockSize, numBlocks } = options;
  const isChunked = draw.chance(0.25);
  const kvGroups = {
    full: draw.oneOf([1, 1, 2]),
    windowed: draw.between(1, 3),
    windowTokens: isChunked ? blockSize * draw.between(1, 8) : draw.between(2, 8 * blockSize),
    ...(isChunked ? { isChunked } : {}),
  };
  const groups = kvGroups.full + kvGroups.windowed;
  return { ...options, kvGroups, namesContents: true, numBlocks: numBlocks * groups };
}

/** Drafts of half of those that have any come from a model. */
function withDrafter(options: WorkloadOptions, draw: Draw): WorkloadOptions {
  if (options.specTokens === 0 || draw.chance(0.5)) return options;
  return { ...options, drafter: draw.oneOf(['draft-model', 'eagle', 'eagle']) };
}

interface RequestDraw {
  readonly draw: Draw;
  readonly options: WorkloadOptions;
  readonly index: number;
  readonly step: number;
  readonly earlier: readonly WorkloadRequest[];
}

function requestOf({ draw, options, index, step, earlier }: RequestDraw): WorkloadRequest {
  const { blockSize, kvGroups, maxModelLen } = options;
  const groups = kvGroups === undefined ? 1 : kvGroups.full + kvGroups.windowed;
  const numBlocks = options.numBlocks / groups;
  const room = Math.min(numBlocks * blockSize, maxModelLen - 1);
  const most = draw.chance(0.7) ? Math.ceil(room / 2) : room - 1;
  const { namesContents } = options;
  const follows =
    namesContents && draw.chance(0.2) && earlier.length > 0
      ? draw.between(0, index - 1)
      : undefined;
  const wished = draw.between(1, Math.max(1, most));
  const prompt = promptOf({
    draw,
    index,
    wished,
    room,
    namesContents,
    before: earlier[follows ?? -1],
  });
  const promptTokens = prompt.reduce((sum, [, tokens]) => sum + tokens, 0);
  const out = Math.min(draw.chance(0.3) ? 1 : draw.between(1, 60), room - promptTokens + 1);
  const stops = draw.chance(0.5);
  const isRemote = options.connector && draw.chance(0.6);
  return {
    step: follows === undefined ? step : draw.between(0, 3),
    ...(follows === undefined ? {} : { after: follows }),
    prompt,
    base: OUTPUTS + index,
    out,
    max: stops ? Math.min(out + draw.between(0, 20), maxModelLen - promptTokens) : out,
    stops,
    priority: draw.between(0, 2),
    arrival: index,
    ...(draw.chance(0.15) ? { abortAfter: draw.between(0, 30) } : {}),
    ...(isRemote ? { remote: promptTokens, loadSteps: draw.between(0, 8) } : {}),
  };
}

interface PromptDraw {
  readonly draw: Draw;
  readonly index: number;
  readonly wished: number;
  readonly room: number;
  readonly namesContents: boolean;
  /** The turn of a conversation that this one goes on from. */
  readonly before: WorkloadRequest | undefined;
}

/** A part that many share, and one of its own; or the whole earlier conversation, and more. */
function promptOf(asked: PromptDraw): Segment[] {
  const { draw, index, wished, room, before } = asked;
  const own = 1000 + index;
  if (!asked.namesContents) return [[own, wished]];
  if (before !== undefined) {
    const said: Segment[] = [...before.prompt, [before.base, before.out - 1]];
    const told = said.filter(([, tokens]) => tokens > 0);
    const length = told.reduce((sum, [, tokens]) => sum + tokens, 0);
    if (length + 1 < room)
      return [...told, [own, draw.between(1, Math.min(20, room - length - 1))]];
  }
  const shared = draw.chance(0.6) ? draw.between(0, wished) : 0;
  const segments: Segment[] = [
    [draw.between(0, 1), shared],
    [own, wished - shared],
  ];
  return segments.filter(([, tokens]) => tokens > 0);
}
