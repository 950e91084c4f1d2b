import type { Engine, EngineOptions } from '@baton/engine';
import { findGpu, findModel, kvCapacityBlocks, NULL_BLOCKS } from '@baton/hardware';
import { buildStepTimeModel } from '@baton/step-time';
import { budgetWorkload } from '@baton/workload';
import { Pairs } from './pairs';

/**
 * CPU time per request of the engines of a virtual run:
 *
 *   node dist/bench/engine-steps/main.js [requests] [requests per second] [--async-scheduling]
 */
const requests = Number(process.argv[2] ?? 1_000_000);
const ratePerSecond = Number(process.argv[3] ?? 45);
const load = budgetWorkload({ ratePerSecond, count: requests });

const placement = { model: findModel('llama-3.1-70b'), gpu: findGpu('a100'), tp: 8 };
const capacity = { ...placement, gpuMemoryUtilization: 0.9, blockSize: load.contentBlockTokens };

const options: EngineOptions = {
  maxNumSeqs: 256,
  maxNumBatchedTokens: 8_192,
  blockSize: load.contentBlockTokens,
  numBlocks: kvCapacityBlocks(capacity) - NULL_BLOCKS,
  contentCount: load.contentCount,
  maxModelLen: placement.model.maxContext,
  longPrefillTokenThreshold: 0,
  enablePrefixCaching: true,
  enableChunkedPrefill: true,
  schedulingPolicy: 'fcfs',
  sjfAgingTokensPerSecond: 0,
  schedulerReserveFullIsl: true,
  asyncScheduling: process.argv.includes('--async-scheduling'),
  stepTime: buildStepTimeModel({ kind: 'calibrated' }, placement),
  seed: 1,
  warmupPenaltyPercent: 0,
  warmupSteps: 0,
};

const pairs = new Pairs(load, {
  prefill: 4,
  decode: 8,
  options,
});
const before = process.cpuUsage();
const beganMs = performance.now();
pairs.run();
const wallMs = performance.now() - beganMs;
const cpu = process.cpuUsage(before);

type Count =
  | 'prefixHitsTokens'
  | 'prefixQueriesTokens'
  | 'steps'
  | 'finished'
  | 'generatedTokens'
  | 'preemptions';

function sum(seats: readonly { engine: Engine }[], key: Count): number {
  return seats.reduce((total, { engine }) => total + engine.counters[key], 0);
}

function hitRate(seats: readonly { engine: Engine }[]): number {
  return sum(seats, 'prefixHitsTokens') / sum(seats, 'prefixQueriesTokens');
}

const { prefill, decode } = pairs;
const decodeSteps = sum(decode, 'steps');
const result = {
  requests,
  finished: sum(decode, 'finished'),
  user_cpu_us_per_request: cpu.user / requests,
  wall_us_per_request: (wallMs * 1_000) / requests,
  step_ends_per_request: pairs.stepEnds / requests,
  prefill_steps_per_request: sum(prefill, 'steps') / requests,
  decode_steps_per_request: decodeSteps / requests,
  decode_batch: sum(decode, 'generatedTokens') / decodeSteps,
  prefill_hit_rate: hitRate(prefill),
  decode_hit_rate: hitRate(decode),
  preemptions: sum(prefill, 'preemptions') + sum(decode, 'preemptions'),
  prefill_busy: pairs.prefillBusyUs / prefill.length / pairs.nowUs,
  simulated_seconds: pairs.nowUs / 1e6,
  rss_mib: process.memoryUsage().rss / 2 ** 20,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
