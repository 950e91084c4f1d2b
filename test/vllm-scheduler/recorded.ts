import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  asyncPipelineWorkloadOf,
  asyncWorkloadOf,
  pipelineWorkloadOf,
  type Workload,
  workloadOf,
} from './workload';

/** A scheduler of vLLM, and the workloads whose steps are kept for the recorded test. */
export interface Scheduler {
  readonly name: 'Scheduler' | 'AsyncScheduler' | 'pipeline stages' | 'asynchronous stages';
  readonly workloadOf: (seed: number) => Workload;
  /** Written by `npm run test:vllm-scheduler -- --record`. */
  readonly file: string;
  readonly seeds: readonly number[];
  /** Options without which some of these workloads have other steps. */
  readonly decisive: readonly ('watermarkBlocks' | 'drafter')[];
}

/** Workloads in which sequences are left out of batches for lack of blocks, and come back. */
const SCARCE = [
  162, 173, 223, 257, 263, 280, 342, 452, 828, 984, 1414, 1482, 1549, 1609, 1638, 1713, 2496, 2524,
  2630, 3096, 3116, 3118, 3943, 3957, 4478, 4573, 4669,
];

/** Workloads of pipeline stages that preempt in flight, or have a twin that is outlived. */
const NOT_COMPARED = [0, 27, 29, 34, 40, 62, 69, 75, 78, 92, 108, 112, 113];

/** The same with batches formed ahead. */
const NOT_COMPARED_AHEAD = [0, 18, 21, 24, 27, 29, 33, 36, 40, 47];

export const SCHEDULERS: readonly Scheduler[] = [
  {
    name: 'Scheduler',
    workloadOf,
    file: fileURLToPath(new URL('recorded.txt', import.meta.url)),
    // 1280: a sequence preempts itself, and a prompt behind it takes its tokens. 4123: one that has
    // had its turn is preempted, and the block that its token would have filled is found.
    seeds: [...seedsFrom(0, 400), 1280, 4123],
    decisive: ['watermarkBlocks', 'drafter'],
  },
  {
    name: 'AsyncScheduler',
    workloadOf: asyncWorkloadOf,
    file: fileURLToPath(new URL('recorded-async.txt', import.meta.url)),
    // In the last, one whose KV has arrived waits for blocks that a batch in flight writes to.
    seeds: [...seedsFrom(0, 160), ...SCARCE, 4419],
    decisive: ['watermarkBlocks', 'drafter'],
  },
  {
    name: 'pipeline stages',
    workloadOf: pipelineWorkloadOf,
    file: fileURLToPath(new URL('recorded-pipeline.txt', import.meta.url)),
    // 544: one is preempted and another is admitted before the next batch ends. 4842: one is
    // aborted while its batch is in flight, and the block that its token fills is kept.
    seeds: [...seedsFrom(0, 120).filter((seed) => !NOT_COMPARED.includes(seed)), 544, 4842],
    decisive: ['watermarkBlocks'],
  },
  {
    name: 'asynchronous stages',
    workloadOf: asyncPipelineWorkloadOf,
    file: fileURLToPath(new URL('recorded-async-pipeline.txt', import.meta.url)),
    seeds: seedsFrom(0, 60).filter((seed) => !NOT_COMPARED_AHEAD.includes(seed)),
    decisive: ['watermarkBlocks'],
  },
];

export interface RecordedRun {
  readonly seed: number;
  readonly steps: readonly string[];
}

export function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

/** One line per workload: its seed and its steps; `*n` after a step means n times in a row. */
export function recordedText(version: string, runs: readonly RecordedRun[]): string {
  const lines = runs.map(({ seed, steps }) => [seed, ...folded(steps)].join('|'));
  return [`vLLM ${version}`, ...lines, ''].join('\n');
}

export function recordedRuns(file: string): { version: string; runs: RecordedRun[] } {
  const [version = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const runs = lines.map((line) => {
    const [seed, ...steps] = line.split('|');
    return { seed: Number(seed), steps: steps.flatMap(unfolded) };
  });
  return { version, runs };
}

function folded(steps: readonly string[]): string[] {
  const texts: string[] = [];
  for (let i = 0; i < steps.length;) {
    let end = i + 1;
    while (steps[end] === steps[i]) end++;
    texts.push(end === i + 1 ? steps[i]! : `${steps[i]}*${end - i}`);
    i = end;
  }
  return texts;
}

function unfolded(text: string): string[] {
  const [step = '', times = '1'] = text.split('*');
  return Array.from({ length: Number(times) }, () => step);
}
