import { outcomeCode, type RequestLog } from '@baton/analysis';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { mean, type Micros, usToMs } from '@baton/kernel';
import { type ClusterScenario, scenarioOf, simulate } from '@baton/simulation';
import { type ComparedEngine, DistserveStepTime } from './distserve-step-time';
import {
  type DistserveCase,
  distserveCases,
  loadOf,
  measuredRequests,
  measuredWorkload,
} from './distserve-load';
import { wholePrompts } from './whole-prompts';
import type { Finding } from './finding';

/** The part of requests that must meet the SLO. */
const ATTAINED = 0.9;
/** Rates per second and GPU between which the goodput lies, and halvings of their ratio. */
const SLOWEST = 0.02;
const FASTEST = 40;
const HALVINGS = 9;
/** Token budgets of today's aggregated engines. */
const BUDGETS = [512, 1_024, 2_048, 8_192];
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

interface Design {
  readonly gpus: number;
  readonly scenario: (rate: number) => ClusterScenario;
  readonly firstToken?: FirstToken;
}

/**
 * Goodput per GPU of both designs at the SLO of the paper: with the engines of then, and with
 * today's. A Markdown table.
 */
export function distserveTable(): string {
  const head = [
    'figure, workload, SLO',
    'paper: DistServe over vLLM',
    'their fits of both engines',
    'their fit of DistServe for both',
    "today's engines",
    "today's, first token from prefill",
  ];
  const rows = distserveCases().map(cellsOf);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function cellsOf(one: DistserveCase): string[] {
  const own = goodput(one, splitThen(one));
  const today = Math.max(...BUDGETS.map((budget) => goodput(one, aggregatedToday(one, budget))));
  const split = splitToday(one);
  const early = { ...split, firstToken: 'from prefill' } as const;
  const { figure, workload, model, ratios, ttftUs, tpotUs } = one;
  return [
    `${figure}, ${workload}, ${model}, TTFT ${usToMs(ttftUs)} ms, TPOT ${usToMs(tpotUs)} ms`,
    [...new Set(ratios)].map((ratio) => ratio.toFixed(1)).join(' to '),
    compared(own, goodput(one, aggregatedThen(one, 'vllm'))),
    compared(own, goodput(one, aggregatedThen(one, 'distserve'))),
    compared(goodput(one, split), today),
    compared(goodput(one, early), today),
  ];
}

/** `1.5 (3.0 : 2.0)`: the ratio and both rates per GPU. */
function compared(split: number, aggregated: number): string {
  const rates = `${split.toFixed(2)} : ${aggregated.toFixed(2)}`;
  return aggregated === 0 ? `– (${rates})` : `${(split / aggregated).toFixed(2)} (${rates})`;
}

/** DistServe over vLLM with the authors' step times of both, for tests. */
export function ratioThen(one: DistserveCase): number {
  return goodput(one, splitThen(one)) / goodput(one, aggregatedThen(one, 'vllm'));
}

function aggregatedThen(one: DistserveCase, engine: ComparedEngine): Design {
  const config = {
    ...THEN,
    model: one.model,
    tensorParallelSize: one.vllmTp,
    topology: '1A',
    maxNumBatchedTokens: VLLM_BUDGET,
  };
  const stepTime = new DistserveStepTime(engine, one.model, one.vllmTp);
  return {
    gpus: one.vllmTp,
    scenario: (rate) => timedBy(wholePrompts(loadOf(one, rate), config), () => stepTime),
  };
}

/** DistServe answers with the first token when the prompt is computed. */
function splitThen(one: DistserveCase): Design {
  const config = { ...THEN, ...placementOf(one), maxNumBatchedTokens: PREFILL_BUDGET };
  const prefill = new DistserveStepTime('distserve', one.model, one.prefillTp);
  const decode = new DistserveStepTime('distserve', one.model, one.decodeTp);
  return {
    gpus: gpusOf(one),
    firstToken: 'from prefill',
    scenario: (rate) =>
      timedBy(wholePrompts(loadOf(one, rate), config), (role) =>
        role === 'prefill' ? prefill : decode,
      ),
  };
}

function aggregatedToday(one: DistserveCase, maxNumBatchedTokens: number): Design {
  const config = defaultConfig({
    ...MACHINE,
    model: one.model,
    tensorParallelSize: one.vllmTp,
    topology: '1A',
    maxNumBatchedTokens,
  });
  return { gpus: one.vllmTp, scenario: (rate) => scenarioOf(config, loadOf(one, rate)) };
}

function splitToday(one: DistserveCase): Design {
  const config = defaultConfig({ ...MACHINE, ...placementOf(one) });
  return { gpus: gpusOf(one), scenario: (rate) => scenarioOf(config, loadOf(one, rate)) };
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

/** The highest rate per second and GPU at which the SLO is attained; 0 when none is. */
function goodput(one: DistserveCase, { gpus, scenario, firstToken }: Design): number {
  const isAttained = (rate: number): boolean => {
    const { log } = simulate(scenario(rate * gpus));
    return attainmentOf(log, one, firstToken ?? 'from decode') >= ATTAINED;
  };
  if (!isAttained(SLOWEST)) return 0;
  let [low, high] = [SLOWEST, FASTEST];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = Math.sqrt(low * high);
    if (isAttained(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function attainmentOf(log: RequestLog, slo: DistserveCase, firstToken: FirstToken): number {
  const good = latenciesOf(log, firstToken).filter(
    ({ ttftUs, tpotUs }) => ttftUs <= slo.ttftUs && tpotUs <= slo.tpotUs,
  );
  return good.length / log.count;
}

function latenciesOf(
  log: RequestLog,
  firstToken: FirstToken,
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

/** The run of vLLM that DistServe's authors published request by request, and its replays. */
export function distserveLog(): Finding[] {
  const measured = measuredRequests();
  const sourceOf = (column: string): number => mean(measured.map((row) => Number(row[column])));
  const config = {
    ...THEN,
    model: 'opt-13b',
    topology: '1A',
    maxNumBatchedTokens: VLLM_BUDGET,
  };
  const composed = wholePrompts(measuredWorkload(), config);
  const fitted = timedBy(composed, () => new DistserveStepTime('vllm', 'opt-13b', 1));
  return Object.entries({ "today's steps": composed, "the authors' fit": fitted }).flatMap(
    ([name, scenario]) => {
      const latencies = latenciesOf(simulate(scenario).log, 'from decode');
      const part = 'vLLM of 2024, OPT-13B on one A100: 100 requests of ShareGPT at 1 per second';
      return [
        {
          part,
          what: `mean TTFT, ${name}`,
          theirs: sourceOf('ttft_ms'),
          ours: usToMs(mean(latencies.map(({ ttftUs }) => ttftUs))),
          unit: 'ms',
        },
        {
          part,
          what: `mean TPOT, ${name}`,
          theirs: sourceOf('tpot_ms'),
          ours: usToMs(mean(latencies.map(({ tpotUs }) => tpotUs))),
          unit: 'ms',
        },
      ];
    },
  );
}
