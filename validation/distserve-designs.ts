import { outcomeCode, type RequestLog } from '@baton/analysis';
import { type BatonConfig, defaultConfig } from '@baton/config';
import type { Micros } from '@baton/kernel';
import { type ClusterScenario, scenarioOf } from '@baton/simulation';
import type { Workload } from '@baton/workload';
import type { DistserveCase } from './distserve-load';
import { type ComparedEngine, DistserveStepTime } from './distserve-step-time';
import { wholePrompts } from './whole-prompts';

/** Budgets of the scripts in DistServe's repository. */
const VLLM_BUDGET = 16_384;
const PREFILL_BUDGET = 8_192;

const MACHINE = {
  gpu: 'a100-80g',
  gpuMemoryUtilization: 0.95,
  link: 'nvlink',
  placement: 'least-requests',
} as const;
/** The scripts in DistServe's repository. */
const THEN = { ...MACHINE, maxNumSeqs: 1_024 } as const;

/** When a client gets the first token. */
type FirstToken = 'from prefill' | 'from decode';

/** Engines of one design, for any load. */
export interface Design {
  readonly gpus: number;
  readonly scenario: (load: Workload) => ClusterScenario;
  readonly firstToken: FirstToken;
}

/** The engine whose step times the authors fitted, or composed steps. */
export type StepsThen = ComparedEngine | 'composed';

/** vLLM of then on the GPUs of one engine. */
export function aggregatedThen(one: DistserveCase, steps: StepsThen): Design {
  const config = {
    ...THEN,
    model: one.model,
    tensorParallelSize: one.vllmTp,
    topology: '1A',
    maxNumBatchedTokens: VLLM_BUDGET,
  };
  const scenario = (load: Workload): ClusterScenario => wholePrompts(load, config);
  if (steps === 'composed') return { gpus: one.vllmTp, firstToken: 'from decode', scenario };
  const stepTime = new DistserveStepTime(steps, one.model, one.vllmTp);
  return {
    gpus: one.vllmTp,
    firstToken: 'from decode',
    scenario: (load) => timedBy(scenario(load), () => stepTime),
  };
}

/** DistServe. It answers with the first token when the prompt is computed. */
export function splitThen(one: DistserveCase, steps: StepsThen = 'distserve'): Design {
  const config = { ...THEN, ...placementOf(one), maxNumBatchedTokens: PREFILL_BUDGET };
  const scenario = (load: Workload): ClusterScenario => wholePrompts(load, config);
  const firstToken = 'from prefill';
  if (steps === 'composed') return { gpus: gpusOf(one), firstToken, scenario };
  const prefill = new DistserveStepTime(steps, one.model, one.prefillTp);
  const decode = new DistserveStepTime(steps, one.model, one.decodeTp);
  const timed = (load: Workload): ClusterScenario =>
    timedBy(scenario(load), (role) => (role === 'prefill' ? prefill : decode));
  return { gpus: gpusOf(one), firstToken, scenario: timed };
}

export function aggregatedToday(one: DistserveCase, maxNumBatchedTokens: number): Design {
  const config = defaultConfig({
    ...MACHINE,
    model: one.model,
    tensorParallelSize: one.vllmTp,
    topology: '1A',
    maxNumBatchedTokens,
  });
  const scenario = (load: Workload): ClusterScenario => scenarioOf(config, load);
  return { gpus: one.vllmTp, firstToken: 'from decode', scenario };
}

export function splitToday(one: DistserveCase): Design {
  const config = defaultConfig({ ...MACHINE, ...placementOf(one) });
  const scenario = (load: Workload): ClusterScenario => scenarioOf(config, load);
  return { gpus: gpusOf(one), firstToken: 'from decode', scenario };
}

function placementOf(one: DistserveCase): Partial<BatonConfig> {
  return {
    model: one.model,
    topology: one.topology,
    prefillTensorParallelSize: one.prefillTp,
    decodeTensorParallelSize: one.decodeTp,
  };
}

function gpusOf({ topology, prefillTp, decodeTp }: DistserveCase): number {
  const [prefill = 0, decode = 0] = topology.split(/[PD]/).map(Number);
  return prefill * prefillTp + decode * decodeTp;
}

function timedBy(
  scenario: ClusterScenario,
  stepTimeOf: (role: string) => DistserveStepTime,
): ClusterScenario {
  const pools = scenario.pools.map((pool) => ({
    ...pool,
    options: { ...pool.options, stepTime: stepTimeOf(pool.role) },
  }));
  return { ...scenario, pools };
}

/** The latencies of completed requests. */
export function latenciesOf(
  log: RequestLog,
  { firstToken }: Design,
): { ttftUs: Micros; tpotUs: Micros }[] {
  const first = firstToken === 'from prefill' ? log.heldUs : log.firstTokenUs;
  const rows = Array.from({ length: log.count }, (_, row) => row);
  const completed = rows.filter((row) => log.outcome[row] === outcomeCode('completed'));
  return completed.map((row) => {
    const later = log.emittedTokens[row]! - 1;
    return {
      ttftUs: first.at(row) - log.arrivalUs.at(row),
      tpotUs: later > 0 ? (log.finishUs.at(row) - first.at(row)) / later : 0,
    };
  });
}
