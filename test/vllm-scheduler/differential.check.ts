import { expect, test } from 'vitest';
import { ourSteps } from './our-run';
import { theirRuns } from './vllm-driver';
import { workloadOf } from './workload';

const { VLLM_PYTHON = 'python3', VLLM_SOURCE = '', VLLM_WORKLOADS = '1000' } = process.env;
const FROM = Number(process.env['VLLM_FROM'] ?? 0);
const BATCH = 500;
const SHOWN = 8;

test(`${VLLM_WORKLOADS} random workloads are scheduled as by vLLM, step by step`, async () => {
  const differing: string[] = [];
  let steps = 0;
  let excluded = 0;
  let compared = 0;
  const end = FROM + Number(VLLM_WORKLOADS);
  for (let from = FROM; from < end; from += BATCH) {
    const seeds = Array.from({ length: Math.min(BATCH, end - from) }, (_, i) => from + i);
    const workloads = seeds.map(workloadOf);
    const theirs = await theirRuns(workloads, { python: VLLM_PYTHON, source: VLLM_SOURCE });
    for (const [i, workload] of workloads.entries()) {
      const difference = firstDifference(theirs[i]!.steps, run(workload));
      if (theirs[i]!.twinOutlived) {
        excluded++;
        continue;
      }
      compared++;
      steps += theirs[i]!.steps.length;
      if (difference !== undefined) differing.push(`seed ${workload.seed}: ${difference}`);
    }
  }
  const excludedText = `${excluded} left out because a twin outlived the block that is found`;
  process.stdout.write(
    `${compared} workloads, ${steps} steps, ${differing.length} differ; ${excludedText}\n`,
  );
  expect(differing.slice(0, SHOWN)).toEqual([]);
});

function run(workload: ReturnType<typeof workloadOf>): string[] {
  try {
    return ourSteps(workload);
  } catch (error) {
    return [`threw ${String(error)}`];
  }
}

function firstDifference(theirs: readonly string[], ours: readonly string[]): string | undefined {
  const at = theirs.findIndex((line, i) => line !== ours[i]);
  if (at < 0 && theirs.length === ours.length) return undefined;
  const step = at < 0 ? theirs.length : at;
  return `step ${step}: vLLM ${theirs[step]} ours ${ours[step]}`;
}
