import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { firstDifference, type Reason, reasonFor } from './difference';
import { keptRuns } from './kept-runs';
import { ourSteps } from './our-run';
import { type RecordedRun, recordedText, type Scheduler, SCHEDULERS, seedsFrom } from './recorded';
import type { TheirRun } from './vllm-driver';
import type { Workload } from './workload';

const { env } = process;
const { VLLM_PYTHON: python = 'python3', VLLM_SOURCE: source = '' } = env;
const { VLLM_VERSION: version = '', VLLM_KEPT: folder = '', VLLM_SCHEDULERS: asked = '' } = env;
const RECORDS = env['VLLM_RECORD'] !== undefined;
/** Workloads that a driver is asked for at once: what a run that is cut short loses. */
const BATCH = 100;
const SHOWN = 8;

/** 0.24 was the first to keep blocks that a step writes to. */
const RULES = { freesAtOnce: Number(version.split('.')[1]) < 24 };

const schedulers = SCHEDULERS.filter(({ name }) => asked.split(',').includes(name));

test.each(schedulers)(
  `vLLM ${version}'s $name decides as ours, step by step`,
  async (scheduler) => {
    const seeds = RECORDS
      ? scheduler.seeds
      : seedsFrom(Number(env['VLLM_FROM'] ?? 0), Number(env['VLLM_WORKLOADS'] ?? BATCH));
    const seen: Seen = {
      compared: 0,
      steps: 0,
      left: { twin: 0, starves: 0, 'in-flight': 0, refused: 0 },
      differing: [],
    };
    const kept: RecordedRun[] = [];
    for (let from = 0; from < seeds.length; from += BATCH) {
      const workloads = seeds.slice(from, from + BATCH).map(scheduler.workloadOf);
      const theirs = await keptRuns(workloads, { python, source }, folder);
      for (const [i, workload] of workloads.entries()) {
        const { steps } = theirs[i]!;
        if (compare(workload, theirs[i]!, seen)) kept.push({ seed: workload.seed, steps });
      }
      process.stdout.write(`${progressOf(scheduler, workloads, seen)}\n`);
    }
    if (RECORDS) writeFileSync(scheduler.file, recordedText(version, kept));
    expect(seen.differing.slice(0, SHOWN)).toEqual([]);
  },
);

interface Seen {
  compared: number;
  steps: number;
  /** The workloads that differ for a documented reason: see docs/engine.md. */
  readonly left: Record<Reason | 'refused', number>;
  readonly differing: string[];
}

/** True when both schedule the same steps. */
function compare(workload: Workload, theirs: TheirRun, seen: Seen): boolean {
  if (theirs.isRefused) {
    seen.left.refused++;
    return false;
  }
  const difference = firstDifference(theirs.steps, ourSteps(workload, RULES));
  const reason = difference && reasonFor(difference, theirs);
  if (reason !== undefined) seen.left[reason]++;
  else {
    seen.compared++;
    seen.steps += theirs.steps.length;
    if (difference !== undefined) seen.differing.push(`seed ${workload.seed}: ${difference.text}`);
  }
  return difference === undefined;
}

function progressOf(
  { name }: Scheduler,
  workloads: readonly Workload[],
  { compared, steps, left, differing }: Seen,
): string {
  return (
    `${name} to seed ${workloads.at(-1)?.seed}: ${compared} workloads, ${steps} steps, ` +
    `${differing.length} differ; left out: ${left.twin} twin outlived, ${left.starves} starves, ` +
    `${left['in-flight']} preempted in flight, ${left.refused} refused`
  );
}
