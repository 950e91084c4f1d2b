import type { Piece } from '@baton/workload';
import { WHOLE } from '@baton/workload';
import type { Assumption } from './assumption';
import { type Candidate, candidateName, isAggregated, type Settings } from './candidates';
import { explain, type Explanation } from './explanation';
import { GIVEN_UP_SHARE } from './find-rate';
import { measureSensitivity } from './measure-sensitivity';
import { nearestMiss } from './nearest-miss';
import { paretoFront } from './pareto';
import { type PlanTask, type TaskResult, TOLERANCE } from './plan-task';
import { type Estimated, promising } from './promising';
import { isBurst, MOST_BURST, samplePiece } from './sample-piece';
import {
  bestOf,
  comparable,
  type Contenders,
  type CutStage,
  type FrontierPoint,
  goodputOf,
  type Kind,
  KINDS,
  type PlanResult,
  refusedBy,
  type SensitivityRow,
  type SettingRow,
  type SplitResult,
} from './split-result';
import { designsToSize, type LoadAnswer, smallestClusters } from './smallest-clusters';
import type { SloTarget } from './trial';
import { tune } from './tune';

/** Splits whose estimate is below this share of the best one's are not simulated. */
export const PROMISING_SHARE = 0.4;
/** Loads at which the splits of the front are simulated, as shares of their own highest rates. */
const FRONTIER_LOADS = [0.25, 0.5, 0.75, 0.9] as const;
/** Samples of the workload, the finalists that remain, and the tolerance of rates. */
const RUNGS = [
  { share: 1 / 32, trials: Infinity, tolerance: 0.15 },
  { share: 1 / 8, trials: 24, tolerance: 0.1 },
  { share: 1 / 2, trials: 12, tolerance: 0.05 },
  { share: 1, trials: 6, tolerance: TOLERANCE },
] as const;
/** Finalists, whose settings are searched. */
const LAST_TRIALS = 6;
const MOST_PASSES = 8;
/** Splits of the front, those with the most goodput first. */
const MOST_ON_FRONT = 8;

export interface PlanCandidate extends Estimated {
  /** A rate at which its engines are all but idle, requests per second. */
  readonly idleRate: number;
}

/** The candidates of a search, and its target. */
export interface PlanQuestion {
  readonly candidates: readonly PlanCandidate[];
  /** The first settings that are tried with a split, besides those of the configuration. */
  readonly firstSettings: (split: Candidate) => readonly Candidate[];
  /** The splits that differ in one setting or one engine. */
  readonly movesOf: (split: Candidate) => readonly Candidate[];
  /** The split with one setting, or with several, of another one. */
  readonly withSettings: (split: Candidate, settings: Settings) => Candidate;
  /** The options of the configuration that make the split. */
  readonly clusterOf: (split: Candidate) => Settings;
  /** Under which the contenders are compared, beside the configuration itself. */
  readonly assumptions: readonly Assumption[];
  /** Whether a split differs under an assumption, and can be built so. */
  readonly canAssume: (assumption: Assumption, split: Candidate) => boolean;
  /** Requests per second that rate matching expects of a split with engines of the candidates. */
  readonly estimateOf: (split: Candidate) => number;
  /** Requests per second of the workload itself. Undefined: it names no rate. */
  readonly ownRate: number | undefined;
  /** The split whose defeat is explained. Without settings: with the best ones that are found. */
  readonly explained: Candidate | undefined;
  readonly target: SloTarget;
  /** Number of requests of the workload. */
  readonly requests: number;
  /** Mean number of requests of a conversation; 1 without turns. */
  readonly turns: number;
  readonly windows: readonly Piece[];
  /** Most splits to simulate, besides the aggregated ones. */
  readonly mostSimulated: number;
}

/** The stages of a search, in their order. */
export const PLAN_STAGES = [
  'sample 1/32',
  'sample 1/8',
  'sample 1/2',
  'whole workload',
  'settings',
  'windows',
  'defaults',
  'frontier',
  'answers',
  'explanation',
  'sensitivity',
  'nearest miss',
] as const;
export type PlanStage = (typeof PLAN_STAGES)[number];

/**
 * Performs the tasks of a stage in any order; results come in the order of the tasks. Undefined:
 * the time of the stage is over. `best`: the best split so far, for the progress.
 */
export type RunTasks = (
  stage: PlanStage,
  tasks: readonly PlanTask[],
  best: string | undefined,
) => Promise<readonly (TaskResult | undefined)[]>;

/**
 * Successive halving over the promising splits, then coordinate ascent over the settings of the
 * finalists, then the finalists in windows of the workload. At the end the comparisons: at the
 * defaults, at the other design's settings, at lower loads, and under other assumptions.
 *
 * @throws NothingKept when nothing keeps the target, with the nearest miss; Failure when no engine
 *   can hold a request
 */
export function searchSplits(question: PlanQuestion, runTasks: RunTasks): Promise<PlanResult> {
  return new SplitSearch(question, runTasks).run();
}

class SplitSearch {
  private simulations = 0;
  private readonly cut: CutStage[] = [];
  /** The longest piece on which each split was tried, by its name. */
  private readonly found = new Map<string, SplitResult>();

  constructor(
    private readonly question: PlanQuestion,
    private readonly runTasks: RunTasks,
  ) {}

  async run(): Promise<PlanResult> {
    const finalists = await this.halve();
    if (finalists.length === 0) throw await this.nothingKept();
    await this.tune(finalists);
    const contenders = await this.inWindows();
    const winner = bestOf(KINDS.flatMap((kind) => contenders[kind] ?? []))!;
    const atDefaults = await this.measureDefaults();
    const settings = await this.measureSettings(contenders);
    const splits = this.splits();
    const rivals = comparable(splits);
    return {
      splits,
      rivals,
      winner,
      contenders,
      atDefaults,
      settings,
      frontier: await this.measureFrontier(splits),
      answers: await this.answer(contenders),
      explanation: await this.explain(winner, splits),
      sensitivity: await this.measureSensitivity(contenders),
      simulations: this.simulations,
      cut: this.cut,
    };
  }

  /** Every candidate once, with the best settings that were found for it. */
  private splits(): SplitResult[] {
    const best = new Map<string, SplitResult>();
    for (const one of this.found.values()) {
      const shape = shapeOf(one.split);
      best.set(shape, better(best.get(shape), one));
    }
    const own = this.question.candidates.map(({ candidate: split, estimatedRate }): SplitResult => {
      const found = best.get(shapeOf(split));
      best.delete(shapeOf(split));
      if (found !== undefined) return found;
      const whyNot = this.whyNot(estimatedRate);
      return { name: candidateName(split), split, estimatedRate, measured: undefined, whyNot };
    });
    return [...own, ...best.values()];
  }

  private whyNot(estimatedRate: number): string {
    if (estimatedRate === 0) return 'by arithmetic, not even one sequence at a time keeps the SLO';
    const { candidates } = this.question;
    const best = Math.max(
      ...candidates
        .filter(({ candidate }) => !isAggregated(candidate))
        .map((one) => one.estimatedRate),
    );
    return estimatedRate < PROMISING_SHARE * best
      ? `by arithmetic at most ${Math.round((100 * estimatedRate) / best)} % of the best split`
      : 'more splits are promising than --simulate allows';
  }

  /** The best splits of each kind on the whole workload, one for each shape. */
  private async halve(): Promise<SplitResult[]> {
    const { candidates, mostSimulated: most, firstSettings } = this.question;
    const chosen = promising(candidates, { share: PROMISING_SHARE, most });
    chosen.sort((one, other) => other.estimatedRate - one.estimatedRate);
    let entrants: readonly Entrant[] = alternating(
      chosen.map(({ candidate, estimatedRate }) => ({ split: candidate, estimatedRate })),
    ).flatMap(({ split, estimatedRate }) => {
      return [split, ...firstSettings(split)].map((one) => ({ split: one, estimatedRate }));
    });
    const rungs = await this.usableRungs(entrants);
    let results: readonly SplitResult[] = [];
    for (const [at, rung] of rungs.entries()) {
      results = await this.tryAll(entrants, rung);
      entrants = inTurns(results, rungs[at + 1]?.trials ?? LAST_TRIALS);
    }
    return inTurns(results, LAST_TRIALS).filter((result) => goodputOf(result) > 0);
  }

  private async tryAll(
    entrants: readonly Entrant[],
    { share, tolerance }: (typeof RUNGS)[number],
  ): Promise<SplitResult[]> {
    const piece = samplePiece(share, this.question.requests);
    const tasks = entrants.map(({ split, estimatedRate }) => {
      const rate = goodputOf(this.found.get(candidateName(split))) || estimatedRate;
      return this.task('search', split, { piece, rate, tolerance });
    });
    const results = await this.perform(stageOf(share), tasks);
    return entrants.map((entrant, at) => this.note(entrant, results[at]));
  }

  /**
   * The rungs whose samples are long enough to show a rate: a burst of few requests keeps the
   * target at any rate. The most promising split of each kind tells.
   */
  private async usableRungs(entrants: readonly Entrant[]): Promise<(typeof RUNGS)[number][]> {
    const best = KINDS.flatMap((kind) => {
      const own = entrants.filter(({ split }) => kindOf(split) === kind);
      const most = Math.max(...own.map(({ estimatedRate }) => estimatedRate));
      const [first] = own.filter(({ estimatedRate }) => estimatedRate === most);
      return own.filter(({ split }) => first && shapeOf(split) === shapeOf(first.split));
    });
    const { turns } = this.question;
    for (const [at, rung] of RUNGS.entries()) {
      if (rung.share === 1) break;
      const tried = await this.tryAll(best, rung);
      if (!tried.some(({ measured }) => isBurst(measured, { turns, most: MOST_BURST.sample })))
        return RUNGS.slice(at);
    }
    return RUNGS.slice(-1);
  }

  private async tune(finalists: readonly SplitResult[]): Promise<void> {
    const starts = finalists.map((one) => ({ design: one.split, result: one.measured! }));
    const tuned = await tune(starts, {
      movesOf: this.question.movesOf,
      nameOf: candidateName,
      taskOf: (split, rate) => this.task('beat', split, { rate }),
      mostPasses: MOST_PASSES,
      run: (tasks) => this.perform('settings', tasks),
    });
    for (const { design: split, result } of tuned) {
      this.note({ split, estimatedRate: this.estimateOf(split) }, result);
    }
  }

  private estimateOf(split: Candidate): number {
    const { candidates } = this.question;
    const same = candidates.find(({ candidate }) => shapeOf(candidate) === shapeOf(split));
    return same?.estimatedRate ?? 0;
  }

  /** Tries the best splits of each kind in the windows, and takes the best of each kind. */
  private async inWindows(): Promise<Contenders> {
    const rivals = comparable([...this.found.values()]).filter((one) => goodputOf(one) > 0);
    const finalists = KINDS.flatMap((kind) => {
      const own = distinct(rivals.filter(({ split }) => kindOf(split) === kind));
      return own.slice(0, FINALISTS);
    });
    const { windows, turns } = this.question;
    const tasks = finalists.flatMap((one) => {
      return windows.map((piece) => {
        return this.task('search', one.split, { piece, rate: startOf(one) });
      });
    });
    const results = await this.perform('windows', tasks);
    // A window that is too short for one of them says nothing about the others either.
    const isUsable = windows.map((_piece, at) => {
      const here = finalists.map((_one, i) => results[i * windows.length + at]);
      return here.every(
        (result) => result !== undefined && !isBurst(result, { turns, most: MOST_BURST.window }),
      );
    });
    const isTried = isUsable.filter(Boolean).length >= FEWEST_WINDOWS;
    finalists.forEach((one, i) => {
      if (!isTried) return;
      const own = results.slice(i * windows.length, (i + 1) * windows.length);
      const goodputs = own.filter((_result, at) => isUsable[at]).map((each) => each!.completedRate);
      this.found.set(one.name, { ...one, windows: goodputs });
    });
    const all = comparable([...this.found.values()]);
    return {
      disaggregated: bestOf(all.filter(({ split }) => !isAggregated(split))),
      aggregated: bestOf(all.filter(({ split }) => isAggregated(split))),
    };
  }

  /** The best split of each kind with the settings of the configuration, on the whole workload. */
  private async measureDefaults(): Promise<Contenders> {
    const plain = KINDS.flatMap((kind) => this.plainSplits(kind));
    const open = plain.filter(({ split }) => this.triedWhole(split) === undefined);
    const results = await this.perform(
      'defaults',
      open.map((one) => this.task('search', one.split, { rate: startOf(one) })),
    );
    open.forEach((one, i) => this.note(one, results[i]));
    const whole = plain.flatMap(({ split }) => this.triedWhole(split) ?? []);
    const bestIn = (kind: Kind) => bestOf(whole.filter(({ split }) => kindOf(split) === kind));
    return { disaggregated: bestIn('disaggregated'), aggregated: bestIn('aggregated') };
  }

  /**
   * The splits of a kind that may be best with the settings of the configuration: the shapes of its
   * best ones, and those that went furthest without settings.
   */
  private plainSplits(kind: Kind): SplitResult[] {
    const own = [...this.found.values()].filter((one) => {
      return kindOf(one.split) === kind && one.measured !== undefined;
    });
    const furthest = (results: readonly SplitResult[]): SplitResult[] => {
      const order = (a: SplitResult, b: SplitResult): number => (better(a, b) === b ? 1 : -1);
      return [...results].sort(order).slice(0, DEFAULTS_TRIED);
    };
    const shapes = furthest(distinct(own)).map((one): SplitResult => {
      const split = { ...one.split, settings: {} };
      return { ...one, name: candidateName(split), split };
    });
    const all = [...shapes, ...furthest(own.filter(({ split }) => isPlain(split)))];
    return [...new Map(all.map((one) => [one.name, one])).values()];
  }

  /** Each contender with each of its settings as configured, and with the other's settings. */
  private async measureSettings(contenders: Contenders): Promise<SettingRow[]> {
    const rows = KINDS.flatMap((kind) => this.settingRows(kind, contenders));
    const open = rows.filter(({ split }) => this.triedWhole(split) === undefined);
    const results = await this.perform(
      'defaults',
      open.map(({ kind, split }) => {
        return this.task('search', split, { rate: startOf(contenders[kind]!) });
      }),
    );
    return rows.flatMap((row) => {
      // A second search of the same split would end elsewhere within its tolerance.
      const result = this.triedWhole(row.split)?.measured ?? results[open.indexOf(row)];
      return result === undefined ? [] : [{ ...row, goodput: result.completedRate }];
    });
  }

  /** The result of a split on the whole workload, if it was tried on it. */
  private triedWhole(split: Candidate): SplitResult | undefined {
    const found = this.found.get(candidateName(split));
    return (found?.measured?.requests ?? 0) < this.question.requests ? undefined : found;
  }

  private settingRows(kind: Kind, contenders: Contenders): Omit<SettingRow, 'goodput'>[] {
    const own = contenders[kind];
    const other = contenders[kind === 'aggregated' ? 'disaggregated' : 'aggregated'];
    if (own === undefined) return [];
    const { split } = own;
    const alone = Object.keys(split.settings).map((key) => {
      const { [key as keyof Settings]: _set, ...settings } = split.settings;
      const change = 'default' as const;
      return { kind, change, key, split: this.question.withSettings(split, settings) };
    });
    if (other === undefined) return alone;
    const swapped = this.question.withSettings(split, inWordsOf(kind, other.split.settings));
    const isSame = candidateName(swapped) === own.name;
    return isSame ? alone : [...alone, { kind, change: 'other', split: swapped }];
  }

  /**
   * The splits that no other beats at its own highest rate, there and at lower loads, on the whole
   * workload. A split that was tried only on a sample may keep less there: points that miss the
   * target are left out.
   */
  private async measureFrontier(splits: readonly SplitResult[]): Promise<FrontierPoint[]> {
    const fewest = Math.min(...splits.filter((one) => goodputOf(one) > 0).map(refusedBy));
    const full = splits.flatMap(({ name, split, measured }) => {
      const { figures } = measured ?? {};
      if (figures === undefined || figures.refused > fewest) return [];
      return [{ name, split, ...measured!, figures }];
    });
    const front = paretoFront(full, costsOf)
      .sort((a, b) => b.completedRate - a.completedRate)
      .slice(0, MOST_ON_FRONT);
    const cells = front.flatMap((one) => {
      const isWhole = one.requests === this.question.requests;
      const loads = isWhole ? FRONTIER_LOADS : [...FRONTIER_LOADS, 1];
      const tasks = loads.map((load) => {
        return { one, task: this.task('measure', one.split, { rate: load * one.rate }) };
      });
      return isWhole ? [...tasks, { one, task: undefined }] : tasks;
    });
    const open = cells.flatMap(({ task }) => task ?? []);
    const measured = await this.perform('frontier', open);
    const points = cells.flatMap(({ one, task }) => {
      const at = task === undefined ? one : measured[open.indexOf(task)];
      const isKept = (at?.figures?.slo_attainment ?? 0) >= this.question.target.attainment;
      return at?.figures && isKept ? [{ ...one, ...at, figures: at.figures }] : [];
    });
    const best = new Set(paretoFront(points, costsOf));
    return points.map((point) => ({ ...point, isOnFront: best.has(point) }));
  }

  /** The smallest clusters for the workload's own load, and for a multiple of it. */
  private answer(contenders: Contenders): Promise<LoadAnswer[]> {
    const { ownRate, estimateOf } = this.question;
    const kept = [...this.found.values()].filter((one) => goodputOf(one) > 0);
    const designs = KINDS.flatMap((kind) => {
      const alike = kept.filter(({ split }) => kindOf(split) === kind);
      return designsToSize(contenders[kind], alike);
    });
    const times = ownRate === undefined ? [] : ANSWERED_LOADS;
    return smallestClusters(designs, {
      loads: times.map((factor) => ({ times: factor, rate: factor * ownRate! })),
      mostGpus: MOST_TIMES_GPUS * (designs[0]?.split.gpus ?? 0),
      estimateOf,
      taskOf: (split, rate) => this.task('keep', split, { rate }),
      run: (tasks) => this.perform('answers', tasks),
    });
  }

  private async explain(
    winner: SplitResult,
    splits: readonly SplitResult[],
  ): Promise<Explanation | undefined> {
    const { explained } = this.question;
    if (explained === undefined) return undefined;
    const name = candidateName(explained);
    const alike = splits.find(({ split }) => shapeOf(split) === shapeOf(explained))!;
    const own = isPlain(explained) ? alike : this.found.get(name);
    const { estimatedRate } = alike;
    const split = own ?? { name, split: explained, estimatedRate, measured: undefined };
    return explain(split, winner, {
      taskOf: (one, rate) => {
        return this.task('explain', one, { rate, idleRate: rate * GIVEN_UP_SHARE });
      },
      run: (tasks) => this.perform('explanation', tasks),
    });
  }

  private measureSensitivity(contenders: Contenders): Promise<SensitivityRow[]> {
    const { assumptions, canAssume } = this.question;
    return measureSensitivity(contenders, {
      assumptions,
      canAssume,
      taskOf: (kind, assumption) => {
        const result = contenders[kind]!;
        return this.task('search', result.split, { rate: startOf(result), assumption });
      },
      run: (tasks) => this.perform('sensitivity', tasks),
    });
  }

  private nothingKept() {
    return nearestMiss(this.question, (candidates) => {
      const tasks = candidates.map(({ candidate, idleRate }) => {
        return this.task('measure', candidate, { rate: idleRate });
      });
      return this.perform('nearest miss', tasks);
    });
  }

  private task(
    kind: PlanTask['kind'],
    split: Candidate,
    given: Pick<PlanTask, 'rate'> & Partial<PlanTask>,
  ): PlanTask {
    const cluster = this.question.clusterOf(split);
    return { kind, cluster, piece: WHOLE, tolerance: TOLERANCE, ...given };
  }

  /** Keeps the result of a split, unless it was tried on more requests before. */
  private note(
    { split, estimatedRate }: Pick<SplitResult, 'split' | 'estimatedRate'>,
    measured: TaskResult | undefined,
  ): SplitResult {
    const name = candidateName(split);
    const before = this.found.get(name);
    const one = { name, split, estimatedRate, measured };
    if (measured === undefined) return before ?? one;
    if ((before?.measured?.requests ?? 0) > measured.requests) return before!;
    this.found.set(name, one);
    return one;
  }

  private async perform(
    stage: PlanStage,
    tasks: readonly PlanTask[],
  ): Promise<readonly (TaskResult | undefined)[]> {
    const best = bestOf(comparable([...this.found.values()]));
    const results = await this.runTasks(stage, tasks, best?.name);
    const done = results.filter((result) => result !== undefined);
    for (const { simulations } of done) this.simulations += simulations;
    if (done.length < tasks.length) {
      this.cut.push({ stage, done: done.length, planned: tasks.length });
    }
    return results;
  }
}

/** Loads for which the smallest cluster is searched, in times of the workload's own. */
const ANSWERED_LOADS = [1, 2] as const;
/** Clusters with more than this many times the given GPUs are not tried. */
const MOST_TIMES_GPUS = 4;
/** Fewer windows that are long enough give no verdict. */
const FEWEST_WINDOWS = 6;
/** Splits of each kind that are tried in windows. */
const FINALISTS = 3;
/** Splits of each kind that are tried whole with the settings of the configuration. */
const DEFAULTS_TRIED = 2;

/** The stage of a rung. */
function stageOf(share: number): PlanStage {
  if (share === 1) return 'whole workload';
  const name = `sample 1/${1 / share}`;
  return PLAN_STAGES.find((stage) => stage === name)!;
}

interface Entrant {
  readonly split: Candidate;
  readonly estimatedRate: number;
}

/** The best of each shape, in turns of both kinds. */
function inTurns(results: readonly SplitResult[], most: number): SplitResult[] {
  return alternating(distinct(results)).slice(0, most);
}

/** In turns of both kinds: a time budget that ends a stage early leaves some of each. */
function alternating<T extends Entrant>(items: readonly T[]): T[] {
  const queues = KINDS.map((kind) => items.filter(({ split }) => kindOf(split) === kind));
  const longest = Math.max(...queues.map((queue) => queue.length));
  const turns = Array.from({ length: longest }, (_none, turn) =>
    queues.map((queue) => queue[turn]),
  );
  return turns.flat().filter((one) => one !== undefined);
}

/** The rate at which a further search of a split starts. */
function startOf({ measured, estimatedRate }: Pick<SplitResult, 'measured' | 'estimatedRate'>) {
  return measured!.rate || estimatedRate;
}

export function kindOf(split: Candidate): Kind {
  return isAggregated(split) ? 'aggregated' : 'disaggregated';
}

/** The name of a split without its settings. */
function shapeOf(split: Candidate): string {
  return candidateName({ ...split, settings: {} });
}

function isPlain({ settings }: Candidate): boolean {
  return Object.keys(settings).length === 0;
}

/** The one that was tried on more requests, and of two such the one with more goodput. */
function better(one: SplitResult | undefined, other: SplitResult): SplitResult {
  if (one === undefined) return other;
  const more = (other.measured?.requests ?? 0) - (one.measured?.requests ?? 0);
  if (more !== 0) return more > 0 ? other : one;
  return goodputOf(other) > goodputOf(one) ? other : one;
}

/** The best of each shape, best first. */
function distinct(results: readonly SplitResult[]): SplitResult[] {
  const best = new Map<string, SplitResult>();
  for (const one of results)
    best.set(shapeOf(one.split), better(best.get(shapeOf(one.split)), one));
  return [...best.values()].sort((a, b) => goodputOf(b) - goodputOf(a));
}

/** The settings of another kind of split under the names that this kind has for them. */
function inWordsOf(kind: Kind, settings: Settings): Settings {
  const words = Object.entries(settings).flatMap(([key, value]) => {
    const base = key.replace(/^(prefill|decode)Max/, 'max');
    if (kind === 'aggregated') return key.startsWith('decode') ? [] : [[base, value]];
    const own = /^max/.test(key) ? `prefill${key.charAt(0).toUpperCase()}${key.slice(1)}` : key;
    return [[own, value]];
  });
  return Object.fromEntries(words) as Settings;
}

type Point = Pick<FrontierPoint, 'completedRate' | 'figures'>;

/** The costs of a point of the front. Without gaps between tokens the TPOT is 0. */
function costsOf({ completedRate, figures }: Point): number[] {
  const { ttft_ms: ttft, tpot_ms: tpot } = figures;
  return [ttft.p90 ?? Infinity, tpot.p90 ?? 0, -completedRate];
}
