import { resolveConfig } from '@baton/config';
import {
  candidateName,
  localPool,
  preparePlan,
  type PlanResult,
  type PlanTask,
  type PreparedPlan,
  searchPlan,
  type TaskPool,
} from '@baton/planner';
import { parseSlo } from '@baton/analysis';
import type { WorkloadFlags } from '@baton/replay';
import { WHOLE } from '@baton/workload';
import type { Finding } from './finding';

/** A question that is small enough to try every design that the plan could choose. */
interface SmallSpace {
  readonly name: string;
  readonly gpus: number;
  readonly tp: readonly number[];
  readonly slo: string;
  readonly workload: WorkloadFlags;
  /** Options that keep their values, so that the space stays small. */
  readonly flags: Readonly<Record<string, string | boolean>>;
}

/** No knob but those of a space moves. */
const FIXED = {
  maxNumSeqs: '256',
  longPrefillTokenThreshold: '0',
  placement: 'pull',
  enablePrefixCaching: true,
};
const { maxNumSeqs: _seqs, ...BUT_SEQUENCES } = FIXED;
const { longPrefillTokenThreshold: _chunk, ...BUT_CHUNKS } = FIXED;
const { placement: _placement, ...BUT_PLACEMENT } = FIXED;

const SPACES: readonly SmallSpace[] = [
  {
    name: 'azure-code, 4 GPUs: splits, token budget, longest chunk',
    gpus: 4,
    tp: [1],
    slo: 'ttft=2s,tpot=50ms',
    workload: { trace: 'azure-code-2023', limit: '800' },
    flags: BUT_CHUNKS,
  },
  {
    name: 'random 1,000 and 200 tokens, 2 GPUs: splits, sizes, token budget, sequences',
    gpus: 2,
    tp: [1, 2],
    slo: 'ttft=500ms,tpot=20ms',
    workload: {
      ...{ dataset: 'random', numPrompts: '400', randomInputLen: '1000', randomOutputLen: '200' },
      ...{ randomRangeRatio: '0.5', requestRate: '1' },
    },
    flags: { ...BUT_SEQUENCES, prefillMaxNumSeqs: '256' },
  },
  {
    name: 'mooncake-conversation, 4 GPUs: splits, token budget, placement',
    gpus: 4,
    tp: [1],
    slo: 'ttft=10s,tpot=50ms',
    workload: { trace: 'mooncake-conversation', arrivals: 'spread', limit: '400' },
    flags: BUT_PLACEMENT,
  },
];

const ATTAINMENT = 0.9;
const THREADS = 2;
/** Relative width of the interval in which a highest rate is known. */
const TOLERANCE = 0.02;
/** Largest share of the best goodput that the plan's answer may lack, percent. */
const AIM = 3;

/**
 * The goodput of the plan's answer beside that of the best design of the whole space, each tried on
 * the whole workload. Deterministic.
 */
export async function planRegret(
  onProgress: (done: number, whole: number) => void,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [at, space] of SPACES.entries()) {
    onProgress(at, SPACES.length);
    const prepared = await prepare(space);
    const pool = localPool(prepared, THREADS);
    try {
      const { best, designs } = await exhaustive(prepared, pool);
      const plan = await answerOf(prepared, THREADS);
      findings.push({
        part: 'Exhaustive search',
        what: `${space.name} (${plan.simulations} simulations, all ${designs} designs)`,
        theirs: best,
        ours: plan.winner.measured!.completedRate,
        unit: 'requests/s',
        aim: AIM,
      });
    } finally {
      await pool.close();
    }
  }
  return findings;
}

/** Requests of the azure-code trace for the comparison with a hand-tuned cluster. */
const REVERSAL_REQUESTS = 2_000;

/**
 * The plan's answer for the azure-code question with eight GPUs, beside 8A with a token budget of
 * 1,024. A plan that compared both designs at vLLM's default budget chose 6P2D instead.
 */
export async function planReversal(threads = THREADS): Promise<Finding> {
  const prepared = await prepare({
    name: '',
    gpus: 8,
    tp: [1],
    slo: 'ttft=2s,tpot=50ms',
    workload: { trace: 'azure-code-2023', limit: String(REVERSAL_REQUESTS) },
    flags: {},
  });
  const plan = await answerOf(prepared, threads);
  const pool = localPool(prepared, threads);
  const tuned: PlanTask = {
    kind: 'search',
    cluster: { topology: '8A', maxNumBatchedTokens: 1_024 },
    piece: WHOLE,
    tolerance: TOLERANCE,
    rate: plan.winner.measured!.rate,
  };
  try {
    const [byHand] = await pool.run([tuned], () => undefined);
    return {
      part: 'A cluster tuned by hand',
      what: `azure-code, 8 GPUs: ${plan.winner.name} beside 8A with a token budget of 1,024`,
      theirs: byHand!.completedRate,
      ours: plan.winner.measured!.completedRate,
      unit: 'requests/s',
    };
  } finally {
    await pool.close();
  }
}

function answerOf(prepared: PreparedPlan, threads: number): Promise<PlanResult> {
  const options = { threads, mostSimulated: Infinity };
  return searchPlan(prepared, options, (_stage, work) => work(() => undefined));
}

function prepare({ gpus, tp, slo, workload, flags }: SmallSpace): Promise<PreparedPlan> {
  const resolved = resolveConfig({ flags: { ...flags, model: 'llama-3.1-8b', gpu: 'h100' } });
  const request = {
    ...{ workload, gpus, vary: [], threads: THREADS },
    sizes: { tp, prefillTp: undefined, decodeTp: undefined },
    target: { slo: parseSlo(slo), attainment: ATTAINMENT },
  };
  return preparePlan(resolved, request, () => undefined);
}

/** Tries every design that a sequence of moves reaches from the candidates. */
async function exhaustive({ question }: PreparedPlan, pool: TaskPool) {
  const { candidates, movesOf, clusterOf } = question;
  const able = candidates.filter(({ estimatedRate }) => estimatedRate > 0);
  const open = able.map(({ candidate }) => candidate);
  const seen = new Map(open.map((split) => [candidateName(split), split]));
  for (let split = open.pop(); split !== undefined; split = open.pop()) {
    for (const move of movesOf(split)) {
      if (seen.has(candidateName(move))) continue;
      seen.set(candidateName(move), move);
      open.push(move);
    }
  }
  const rate = Math.max(...able.map(({ estimatedRate }) => estimatedRate));
  const tasks = [...seen.values()].map((split): PlanTask => {
    return { kind: 'search', cluster: clusterOf(split), piece: WHOLE, tolerance: TOLERANCE, rate };
  });
  const results = await pool.run(tasks, () => undefined);
  const best = Math.max(...results.map(({ completedRate }) => completedRate));
  return { best, designs: tasks.length };
}
