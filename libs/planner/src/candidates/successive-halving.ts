import { type RandomStream } from '@baton/kernel';

/** One round of a search: all remaining candidates get the same effort. */
export interface HalvingRung {
  /** Part of the workload, from its beginning, that a candidate is tried on: 0..1. */
  readonly share: number;
  /** Candidates that take part, at most. */
  readonly trials: number;
}

/** A figure by which results are ranked; a smaller one is better. */
export type Ranking<R> = (result: R) => number;

/** A candidate with its result of the last rung that it reached. */
export interface TriedCandidate<C, R> {
  readonly candidate: C;
  readonly result: R;
  /** Rungs that it took part in. */
  readonly rungs: number;
}

export interface HalvingPlan<C, R> {
  readonly rungs: readonly HalvingRung[];
  /** Only candidates of one group compete: a small fleet does not lose to a large one. */
  readonly groupOf: (candidate: C) => string;
  /** The rankings of a group; each in turn picks the best remaining candidate. */
  readonly rankingsOf: (group: string) => readonly Ranking<R>[];
  /** Results in the order of the candidates; `before` are those of the rung before. */
  readonly run: (
    candidates: readonly C[],
    rung: HalvingRung,
    before: readonly (R | undefined)[],
  ) => Promise<readonly R[]>;
}

/**
 * Successive halving (Jamieson and Talwalkar, 2016): all candidates run on a short prefix, the best
 * of them on a longer one, until few run on the whole. Returns every candidate that was tried with
 * its last result; those of the last rung come first, in the order of `candidates`.
 */
export async function successiveHalving<C, R>(
  candidates: readonly C[],
  { rungs, groupOf, rankingsOf, run }: HalvingPlan<C, R>,
): Promise<TriedCandidate<C, R>[]> {
  const left: TriedCandidate<C, R>[] = [];
  let tried: TriedCandidate<C, R>[] = [];
  for (const [i, rung] of rungs.entries()) {
    const promoted = i === 0 ? undefined : best(tried, rung.trials, { groupOf, rankingsOf });
    if (promoted !== undefined) left.unshift(...tried.filter((one) => !promoted.includes(one)));
    const entrants =
      promoted?.map(({ candidate }) => candidate) ?? candidates.slice(0, rung.trials);
    const before = entrants.map((_, at) => promoted?.[at]?.result);
    const results = await run(entrants, rung, before);
    tried = entrants.map((candidate, at) => ({ candidate, result: results[at]!, rungs: i + 1 }));
  }
  return [...tried, ...left];
}

/** The candidates that the rankings pick, in their order in `tried`. */
function best<C, R>(
  tried: readonly TriedCandidate<C, R>[],
  most: number,
  { groupOf, rankingsOf }: Pick<HalvingPlan<C, R>, 'groupOf' | 'rankingsOf'>,
): TriedCandidate<C, R>[] {
  const groups = new Map<string, TriedCandidate<C, R>[]>();
  for (const one of tried) {
    const group = groupOf(one.candidate);
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  const picked = new Set<TriedCandidate<C, R>>();
  for (let turn = 0; picked.size < Math.min(most, tried.length); turn++) {
    for (const [name, group] of groups) {
      if (picked.size >= most) break;
      const rankings = rankingsOf(name);
      const ranking = rankings[turn % rankings.length]!;
      const next = bestOf(
        group.filter((one) => !picked.has(one)),
        ranking,
      );
      if (next !== undefined) picked.add(next);
    }
  }
  return tried.filter((one) => picked.has(one));
}

function bestOf<C, R>(ranked: readonly TriedCandidate<C, R>[], ranking: Ranking<R>) {
  return ranked.reduce<TriedCandidate<C, R> | undefined>((top, one) => {
    return top === undefined || ranking(one.result) < ranking(top.result) ? one : top;
  }, undefined);
}

/** Share of the first rung that is filled at random, against errors of the estimate. */
const DRAWN_SHARE = 1 / 8;

/**
 * The candidates of the first rung: of each group the best by estimate, and some random ones.
 * `cost` is estimated, smaller is better.
 */
export function seededStart<C>(
  candidates: readonly C[],
  {
    most,
    groupOf,
    cost,
    random,
  }: {
    readonly most: number;
    readonly groupOf: (candidate: C) => string;
    readonly cost: (candidate: C) => number;
    readonly random: RandomStream;
  },
): C[] {
  const groups = new Map<string, C[]>();
  // Sorting is stable, so equals stay in their order.
  for (const one of [...candidates].sort((a, b) => cost(a) - cost(b))) {
    groups.set(groupOf(one), [...(groups.get(groupOf(one)) ?? []), one]);
  }
  const each = Math.max(1, Math.floor(most / Math.max(1, groups.size)));
  const drawn = Math.floor(each * DRAWN_SHARE);
  return [...groups.values()].flatMap((group) => {
    const first = group.slice(0, each - drawn);
    const rest = group.slice(each - drawn);
    const lucky = Array.from({ length: Math.min(drawn, rest.length) }, () => {
      return rest.splice(random.integer(rest.length), 1)[0]!;
    });
    return [...first, ...lucky];
  });
}
