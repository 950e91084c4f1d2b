import { type Candidate, candidateName, isAggregated } from './candidates';
import type { PlanTask, TaskResult } from './plan-task';
import { goodputOf, type Kind, KINDS, type SplitResult } from './split-result';

/** The load that clusters of several sizes are asked to serve. */
export interface Load {
  /** In times of the workload's own rate. */
  readonly times: number;
  /** Requests per second; with turns, conversations. */
  readonly rate: number;
}

/** The smallest cluster of a kind for a load. */
export interface SmallestCluster {
  readonly kind: Kind;
  /** Undefined: not even the most GPUs that were tried are enough. */
  readonly split: Candidate | undefined;
  readonly result: TaskResult | undefined;
}

/** For one load, the smallest cluster of each kind, the smallest of all first. */
export interface LoadAnswer extends Load {
  readonly mostGpus: number;
  readonly smallest: readonly SmallestCluster[];
}

export interface SmallestPlan {
  readonly loads: readonly Load[];
  /** Clusters with more GPUs are not tried. */
  readonly mostGpus: number;
  /** Requests per second that rate matching expects of a split. */
  readonly estimateOf: (split: Candidate) => number;
  /** Tries whether a split keeps the target at a rate. */
  readonly taskOf: (split: Candidate, rate: number) => PlanTask;
  /** Results in the order of the tasks. Undefined: the time is over. */
  readonly run: (tasks: readonly PlanTask[]) => Promise<readonly (TaskResult | undefined)[]>;
}

/**
 * The smallest number of GPUs of each design that keeps the target at each load. A search begins at
 * the number that the goodput of the design suggests, and ends between a number that keeps the
 * target and the next smaller one that misses it: a larger cluster is taken to keep what a smaller
 * one keeps. Loads whose search was cut short are left out.
 *
 * @param designs  measured splits, with the sizes and settings to build others of
 */
export async function smallestClusters(
  designs: readonly SplitResult[],
  { loads, mostGpus, estimateOf, taskOf, run }: SmallestPlan,
): Promise<LoadAnswer[]> {
  const hunts = loads.flatMap((load) => {
    return designs.map((design) => new Hunt(design, load, { mostGpus, estimateOf }));
  });
  let open = hunts;
  while (open.length > 0) {
    const trials = open.flatMap((hunt) => hunt.splits.map((split) => ({ hunt, split })));
    const results = await run(trials.map(({ hunt, split }) => taskOf(split, hunt.load.rate)));
    for (const hunt of open) {
      hunt.learn(results.filter((_result, i) => trials[i]!.hunt === hunt));
    }
    open = open.filter((hunt) => hunt.isOpen);
  }
  return loads.flatMap((load) => {
    const own = hunts.filter((hunt) => hunt.load === load);
    if (own.some(({ isCut }) => isCut)) return [];
    const smallest = KINDS.flatMap((kind) => {
      const found = own.filter((hunt) => hunt.kind === kind).map(({ answer }) => answer);
      return found.sort(byGpus).slice(0, 1);
    });
    return [{ ...load, mostGpus, smallest: smallest.sort(byGpus) }];
  });
}

/**
 * The best split of a kind, and the best one with the smallest engines: few GPUs do not divide into
 * large engines.
 */
export function designsToSize(
  best: SplitResult | undefined,
  alike: readonly SplitResult[],
): SplitResult[] {
  if (best === undefined || goodputOf(best) === 0) return [];
  const finest = [...alike].sort((a, b) => {
    return fewestGpus(a.split) - fewestGpus(b.split) || goodputOf(b) - goodputOf(a);
  })[0];
  const isFiner = finest !== undefined && fewestGpus(finest.split) < fewestGpus(best.split);
  return isFiner ? [best, finest] : [best];
}

/** GPUs of the smallest cluster with the engines of a split. */
function fewestGpus(split: Candidate): number {
  const { prefillTp, decodeTp, stages = 1 } = split;
  return isAggregated(split) ? decodeTp * stages : prefillTp + decodeTp;
}

/** Fewer GPUs first; of equally many, the cluster that more requests are content with. */
function byGpus(one: SmallestCluster, other: SmallestCluster): number {
  const gpus = (one.split?.gpus ?? Infinity) - (other.split?.gpus ?? Infinity);
  const content = ({ result }: SmallestCluster): number => result?.figures?.slo_attainment ?? 0;
  return gpus || content(other) - content(one) || 0;
}

/** The search for the smallest cluster of one design for one load. */
class Hunt {
  readonly kind: Kind;
  isCut = false;
  /** The splits of each number of GPUs, rising. */
  private readonly sizes: readonly (readonly Candidate[])[];
  private at: number;
  private lost = -1;
  private kept: number;
  private stride = 1;
  private best: { split: Candidate; result: TaskResult } | undefined;

  constructor(
    design: SplitResult,
    readonly load: Load,
    { mostGpus, estimateOf }: Pick<SmallestPlan, 'mostGpus' | 'estimateOf'>,
  ) {
    const { split, measured } = design;
    this.kind = isAggregated(split) ? 'aggregated' : 'disaggregated';
    this.sizes = sizesOf(split, mostGpus, estimateOf);
    this.kept = this.sizes.length;
    // What rate matching overrates in the design, it overrates in its other sizes too.
    const trust = measured!.rate / estimateOf(split);
    const enough = this.sizes.findIndex((splits) => {
      return splits.some((one) => estimateOf(one) * trust >= load.rate);
    });
    this.at = enough < 0 ? this.sizes.length - 1 : enough;
  }

  get isOpen(): boolean {
    return !this.isCut && this.kept - this.lost > 1;
  }

  /** The splits to try next. */
  get splits(): readonly Candidate[] {
    return this.sizes[this.at]!;
  }

  get answer(): SmallestCluster {
    return { kind: this.kind, split: this.best?.split, result: this.best?.result };
  }

  /** @param results  of `splits` */
  learn(results: readonly (TaskResult | undefined)[]): void {
    if (results.includes(undefined)) {
      this.isCut = true;
      return;
    }
    const which = results.findIndex((result) => result!.rate > 0);
    if (which < 0) this.lost = this.at;
    else {
      this.kept = this.at;
      this.best = { split: this.splits[which]!, result: results[which]! };
    }
    this.at = this.next();
  }

  /** In growing strides until both ends are known, then the middle. */
  private next(): number {
    const isKnown = this.kept < this.sizes.length && this.lost >= 0;
    if (isKnown) return Math.floor((this.kept + this.lost) / 2);
    const stride = this.stride;
    this.stride *= 2;
    if (this.lost < 0) return Math.max(0, this.kept - stride);
    return Math.min(this.sizes.length - 1, this.lost + stride);
  }
}

/**
 * The splits with the engines of one, by number of GPUs: those with the ratio of prefill to decode
 * nearest to its own, and those that rate matching prefers.
 */
function sizesOf(
  split: Candidate,
  mostGpus: number,
  estimateOf: (split: Candidate) => number,
): Candidate[][] {
  const { topology, prefillTp } = split;
  const numbers = Array.from({ length: mostGpus }, (_none, i) => i + 1);
  if (isAggregated(split)) {
    const size = fewestGpus(split);
    return numbers
      .filter((gpus) => gpus % size === 0)
      .map((gpus) => [{ ...split, gpus, topology: { ...topology, aggregated: gpus / size } }]);
  }
  const share = (topology.prefill * prefillTp) / split.gpus;
  return numbers.flatMap((gpus) => {
    const all = dividedOf(split, gpus);
    const distance = (one: Candidate): number => {
      return Math.abs((one.topology.prefill * prefillTp) / gpus - share);
    };
    const nearest = least(all, distance);
    const matched = least(all, (one) => -estimateOf(one));
    if (nearest === undefined || matched === undefined) return [];
    return [candidateName(nearest) === candidateName(matched) ? [nearest] : [matched, nearest]];
  });
}

function dividedOf(split: Candidate, gpus: number): Candidate[] {
  const { prefillTp, decodeTp } = split;
  const all: Candidate[] = [];
  for (let prefill = 1; prefill * prefillTp < gpus; prefill++) {
    const decode = (gpus - prefill * prefillTp) / decodeTp;
    if (!Number.isInteger(decode)) continue;
    all.push({ ...split, gpus, topology: { prefill, decode, aggregated: 0 } });
  }
  return all;
}

function least(all: readonly Candidate[], cost: (one: Candidate) => number): Candidate | undefined {
  return all.reduce<Candidate | undefined>((best, one) => {
    return best === undefined || cost(one) < cost(best) ? one : best;
  }, undefined);
}
