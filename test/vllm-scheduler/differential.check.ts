import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { firstDifference } from './difference';
import { ourSteps } from './our-run';
import { RECORDED, RECORDED_ASYNC, recordedText } from './recorded';
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
  const seen = { compared: 0, steps: 0, twins: 0, starving: 0, differing: [] as string[] };
  const kept: { seed: number; steps: readonly string[] }[] = [];
  for (let from = FROM; from < FROM + WORKLOADS; from += BATCH) {
    const count = Math.min(BATCH, FROM + WORKLOADS - from);
    const workloads = Array.from({ length: count }, (_, i) => draw(from + i));
    const theirs = await theirRuns(workloads, { python: VLLM_PYTHON, source: VLLM_SOURCE });
    for (const [i, workload] of workloads.entries()) {
      compare(workload, theirs[i]!, seen);
      if (!theirs[i]!.twinOutlived && !theirs[i]!.starves)
        kept.push({ seed: workload.seed, steps: theirs[i]!.steps });
    }
  }
  const { compared, steps, twins, starving, differing } = seen;
  const left =
    `${twins} left out because a twin outlived the block that is found, ` +
    `${starving} because vLLM starves`;
  process.stdout.write(
    `${compared} workloads, ${steps} steps, ${differing.length} differ; ${left}\n`,
  );
  if (VLLM_RECORD !== undefined)
    writeFileSync(IS_ASYNC ? RECORDED_ASYNC : RECORDED, recordedText(VLLM_VERSION, kept));
  expect(differing.slice(0, SHOWN)).toEqual([]);
});

function compare(
  workload: Workload,
  theirs: TheirRun,
  seen: { compared: number; steps: number; twins: number; starving: number; differing: string[] },
): void {
  if (theirs.twinOutlived) {
    seen.twins++;
    return;
  }
  const difference = firstDifference(theirs.steps, ourSteps(workload));
  if (theirs.starves && difference !== undefined) {
    seen.starving++;
    return;
  }
  seen.compared++;
  seen.steps += theirs.steps.length;
  if (difference !== undefined) seen.differing.push(`seed ${workload.seed}: ${difference}`);
}
