import { describe, expect, it } from 'vitest';
import { type Candidate, candidateName, type Settings } from './candidates';
import type { PlanFigures, PlanTask, TaskResult } from './plan-task';
import { type PlanQuestion, type PlanStage, type RunTasks, searchSplits } from './search-splits';

const FIGURES = { refused: 0, ttft_ms: { p90: 1 }, tpot_ms: { p90: 1 } } as unknown as PlanFigures;
const REQUESTS = 3_200;

const split = (prefill: number, decode: number, aggregated: number): Candidate => {
  const topology = { prefill, decode, aggregated };
  return { topology, prefillTp: 1, decodeTp: 1, gpus: 4, settings: {} };
};

const BUDGETS = [512, 1_024, 4_096] as const;
const BATCHES = [64, 128] as const;

/** Moves of a made-up space with two knobs. */
function movesOf(one: Candidate): Candidate[] {
  const set = (settings: Settings): Candidate => {
    return { ...one, settings: { ...one.settings, ...settings } };
  };
  return [
    ...BUDGETS.map((maxNumBatchedTokens) => set({ maxNumBatchedTokens })),
    ...BATCHES.map((maxNumSeqs) => set({ maxNumSeqs })),
  ];
}

/** Aggregated engines do best with 1,024 tokens and then 64 sequences; splits as configured. */
function rateOf({ cluster }: PlanTask): number {
  const { topology = '', maxNumBatchedTokens: budget, maxNumSeqs: seqs } = cluster;
  if (!topology.endsWith('A')) return 10 + Number(topology[0]) - (budget === undefined ? 0 : 1);
  return budget !== 1_024 ? 9 : seqs === 64 ? 35 : 30;
}

/** A task that asks for more than its cluster can do finds nothing. */
function performed(task: PlanTask, factor = 1): TaskResult {
  const share = task.piece.kind === 'sample' ? task.piece.share : 1;
  const requests = REQUESTS * (task.piece.kind === 'window' ? 1 / task.piece.of : share);
  const rate = task.kind === 'measure' ? task.rate : rateOf(task) * factor;
  if (task.kind === 'beat' && task.rate > rate) {
    return { rate: 0, completedRate: 0, figures: undefined, requests, simulations: 1 };
  }
  return { rate, completedRate: rate, figures: FIGURES, requests, simulations: 1 };
}

const CANDIDATES = [split(1, 3, 0), split(2, 2, 0), split(3, 1, 0), split(0, 0, 4)];

function questionOf(given: Partial<PlanQuestion> = {}): PlanQuestion {
  return {
    candidates: CANDIDATES.map((candidate) => ({ candidate, estimatedRate: 10, idleRate: 1 })),
    firstSettings: () => [],
    movesOf,
    withSettings: (one, settings) => ({ ...one, settings }),
    clusterOf: ({ topology, settings }) => ({
      topology: topology.aggregated > 0 ? '4A' : `${topology.prefill}P${topology.decode}D`,
      ...settings,
    }),
    assumptions: [],
    canAssume: () => true,
    estimateOf: () => 10,
    ownRate: undefined,
    explained: undefined,
    target: { slo: {}, attainment: 0.9 },
    requests: REQUESTS,
    turns: 1,
    windows: Array.from({ length: 8 }, (_none, at) => ({ kind: 'window', at, of: 8 })),
    mostSimulated: 9,
    ...given,
  };
}

async function search(given: Partial<PlanQuestion> = {}, run: RunTasks = runAll) {
  return searchSplits(questionOf(given), run);
}

const runAll: RunTasks = (_stage, tasks) => Promise.resolve(tasks.map((task) => performed(task)));

describe('the search for the best split', () => {
  it('gives each design the settings that suit it, one after the other', async () => {
    const { winner, contenders } = await search();
    expect(winner.name).toBe('4A mbt1024 mns64');
    expect(contenders.disaggregated?.name).toBe('3P1D');
    expect(contenders.aggregated).toBe(winner);
  });

  it('keeps the settings as configured where there are no moves', async () => {
    const { winner } = await search({ movesOf: () => [] });
    expect(winner.name).toBe('3P1D');
  });

  it('compares both designs at the settings of the configuration', async () => {
    const { atDefaults } = await search();
    expect(atDefaults.aggregated).toMatchObject({ name: '4A', measured: { rate: 9 } });
    expect(atDefaults.disaggregated).toMatchObject({ name: '3P1D', measured: { rate: 13 } });
  });

  it("states what each setting is worth, and what the other design's settings cost", async () => {
    const { settings } = await search();
    const rows = settings.map(({ kind, change, key, goodput }) => [kind, change, key, goodput]);
    expect(rows).toEqual([
      ['disaggregated', 'other', undefined, 13],
      ['aggregated', 'default', 'maxNumBatchedTokens', 9],
      ['aggregated', 'default', 'maxNumSeqs', 30],
      ['aggregated', 'other', undefined, 9],
    ]);
  });

  it('has one figure for a split, however many tables name it', async () => {
    const asked: string[] = [];
    const run: RunTasks = (stage, tasks) => {
      const whole = tasks.filter(({ kind, piece }) => kind === 'search' && piece.kind === 'whole');
      asked.push(...whole.map(({ cluster }) => JSON.stringify(cluster)));
      return runAll(stage, tasks, undefined);
    };
    const { settings } = await search({}, run);
    expect(settings.map((row) => candidateName(row.split))).toContain('4A');
    expect(asked.filter((cluster, i) => asked.indexOf(cluster) < i)).toEqual([]);
  });

  it('tries the finalists in windows', async () => {
    const { winner, contenders } = await search();
    expect(winner.windows).toEqual(Array.from({ length: 8 }, () => 35));
    expect(contenders.disaggregated?.windows).toEqual(Array.from({ length: 8 }, () => 13));
  });

  it('leaves out windows that are bursts for one of the finalists', async () => {
    const burstIn = (windows: readonly number[]): RunTasks => {
      return (_stage, tasks) => Promise.resolve(tasks.map((task) => bursting(task, windows)));
    };
    const bursting = (task: PlanTask, windows: readonly number[]): TaskResult => {
      const result = performed(task);
      const isShort = task.piece.kind === 'window' && windows.includes(task.piece.at);
      const isSplit = task.cluster.topology?.endsWith('D') === true;
      return isShort && isSplit ? { ...result, rate: 100 * result.rate } : result;
    };
    const some = await search({}, burstIn([1]));
    expect(some.winner.windows).toHaveLength(7);
    expect(some.contenders.disaggregated?.windows).toHaveLength(7);
    const most = await search({}, burstIn([0, 1, 2, 3, 4]));
    expect([most.winner.windows, most.winner.name]).toEqual([undefined, '4A mbt1024 mns64']);
  });

  it('passes over samples in which requests arrive nearly together', async () => {
    const shares = new Map<PlanStage, number>();
    const run: RunTasks = (stage, tasks) => {
      shares.set(stage, (shares.get(stage) ?? 0) + tasks.length);
      return Promise.resolve(
        tasks.map((task) => {
          const result = performed(task);
          const isShort = task.piece.kind === 'sample' && task.piece.share < 0.2;
          // A burst shows the wrong order: splits of more decode engines look better.
          return isShort ? { ...performed(task, 1 / rateOf(task)), rate: 1e5 } : result;
        }),
      );
    };
    const { winner } = await search({}, run);
    expect(winner.name).toBe('4A mbt1024 mns64');
    expect(shares.get('sample 1/32')).toBe(shares.get('sample 1/8'));
    expect(shares.get('sample 1/2')).toBeGreaterThan(shares.get('sample 1/8')!);
  });

  it('says why a split was not simulated', async () => {
    const rates = [10, 10, 3, 10];
    const candidates = CANDIDATES.map((candidate, i) => {
      return { candidate, estimatedRate: rates[i]!, idleRate: 1 };
    });
    const { splits } = await search({ candidates });
    expect(splits.flatMap(({ name, whyNot }) => (whyNot ? [[name, whyNot]] : []))).toEqual([
      ['3P1D', 'by arithmetic at most 30 % of the best split'],
    ]);
  });

  it('has one result for each candidate, of the largest piece', async () => {
    const { splits } = await search({ movesOf: () => [] });
    expect(splits.map(({ name }) => name)).toEqual(CANDIDATES.map(candidateName));
    for (const { measured } of splits) expect(measured?.requests).toBe(REQUESTS);
  });

  it('gives an answer when the time is over after the whole workload, and says so', async () => {
    const early: readonly PlanStage[] = ['sample 1/32', 'sample 1/8', 'sample 1/2'];
    const run: RunTasks = (stage, tasks) => {
      const isOpen = early.includes(stage) || stage === 'whole workload';
      return Promise.resolve(tasks.map((task) => (isOpen ? performed(task) : undefined)));
    };
    const { winner, cut, settings } = await search({}, run);
    expect([winner.name, winner.windows, settings]).toEqual(['3P1D', undefined, []]);
    expect(cut.map(({ stage, done }) => [stage, done])).toEqual([
      ['settings', 0],
      ['windows', 0],
      ['frontier', 0],
    ]);
  });

  it('gives the same result when only the first tasks of a stage are done', async () => {
    const run: RunTasks = (stage, tasks) => {
      const most = stage === 'sample 1/32' ? 2 : tasks.length;
      return Promise.resolve(tasks.map((task, i) => (i < most ? performed(task) : undefined)));
    };
    const { winner } = await search({}, run);
    expect(winner.name).toBe('4A mbt1024 mns64');
  });

  it('fails with the nearest miss when nothing keeps the target', async () => {
    const run: RunTasks = (_stage, tasks) => {
      return Promise.resolve(
        tasks.map((task) => {
          const nothing = { rate: 0, completedRate: 0, figures: undefined };
          return { ...performed(task), ...(task.kind === 'measure' ? {} : nothing) };
        }),
      );
    };
    await expect(search({}, run)).rejects.toMatchObject({ name: 'NothingKept' });
  });
});
