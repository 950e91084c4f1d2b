import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { firstDifference } from './difference';
import { ourSteps } from './our-run';
import { RECORDED, RECORDED_ASYNC, type RecordedRun, recordedText } from './recorded';
import { theirRuns, type TheirRun } from './vllm-driver';
import { asyncWorkloadOf, type Workload, workloadOf } from './workload';

const { VLLM_PYTHON = 'python3', VLLM_SOURCE = '', VLLM_VERSION = '', VLLM_RECORD } = process.env;
const WORKLOADS = Number(process.env['VLLM_WORKLOADS'] ?? 1000);
const FROM = Number(process.env['VLLM_FROM'] ?? 0);
const IS_ASYNC = process.env['VLLM_ASYNC'] !== undefined;
const draw = IS_ASYNC ? asyncWorkloadOf : workloadOf;
const KIND = IS_ASYNC ? 'its asynchronous one' : 'its synchronous one';
const BATCH = 500;
const SHOWN = 8;

test(`${WORKLOADS} random workloads are scheduled as by vLLM ${VLLM_VERSION} (${KIND}), step by step`, async () => {
  const seen: Seen = { compared: 0, steps: 0, left: { twin: 0, starves: 0 }, differing: [] };
  const kept: RecordedRun[] = [];
  for (let from = FROM; from < FROM + WORKLOADS; from += BATCH) {
    const count = Math.min(BATCH, FROM + WORKLOADS - from);
    const workloads = Array.from({ length: count }, (_, i) => draw(from + i));
    const theirs = await theirRuns(workloads, { python: VLLM_PYTHON, source: VLLM_SOURCE });
    for (const [i, workload] of workloads.entries()) {
      const { steps } = theirs[i]!;
      if (compare(workload, theirs[i]!, seen)) kept.push({ seed: workload.seed, steps });
    }
  }
  const { compared, steps, left, differing } = seen;
  process.stdout.write(
    `${compared} workloads, ${steps} steps, ${differing.length} differ; left out: ` +
      `${left.twin} twin outlived, ${left.starves} starves\n`,
  );
  if (VLLM_RECORD !== undefined)
    writeFileSync(IS_ASYNC ? RECORDED_ASYNC : RECORDED, recordedText(VLLM_VERSION, kept));
  expect(differing.slice(0, SHOWN)).toEqual([]);
});

interface Seen {
  compared: number;
  steps: number;
  /** The workloads that differ for a documented reason: see docs/engine.md. */
  readonly left: { twin: number; starves: number };
  readonly differing: string[];
}

/** True when both schedule the same steps. */
function compare(workload: Workload, theirs: TheirRun, seen: Seen): boolean {
  const difference = firstDifference(theirs.steps, ourSteps(workload));
  if (difference !== undefined && theirs.foundTwin) seen.left.twin++;
  else if (difference !== undefined && theirs.starves) seen.left.starves++;
  else {
    seen.compared++;
    seen.steps += theirs.steps.length;
    if (difference !== undefined) seen.differing.push(`seed ${workload.seed}: ${difference}`);
  }
  return difference === undefined;
}
