import type { Framework } from '@baton/step-time';
import { type Aim, isMet, type BoardLine, scoreboard, scoreOf, scoresOf } from './scoreboard';
import { type ServingPoint, servingPoints } from './serving-point';
import { runPoint, type ServingResult } from './serving-run';

/** Published serving points, blind: no constant was fitted to any of them. */
export interface ServingReport {
  readonly results: readonly ServingResult[];
  /** Markdown: all points, by framework, by group, and the points left out. */
  readonly text: string;
}

/** Rack systems. Errors are expected in the estimates of their wide expert parallelism. */
const RACKS = new Set(['gb200', 'gb300']);

export interface ServingChoice {
  /** Takes only every n-th point. Default: all. */
  readonly every?: number | undefined;
  /** Takes points with this text in the name of their group. Default: all. */
  readonly group?: string | undefined;
  /** The framework that provides the kernels. Default: that of the point. */
  readonly framework?: Framework | undefined;
  readonly onProgress?: (done: number, whole: number) => void;
}

export function servingReport(choice: ServingChoice): ServingReport {
  const { every = 1, framework, group = '' } = choice;
  const { points: all, leftOut } = servingPoints();
  const points = all.filter((point) => point.group.includes(group));
  const results: ServingResult[] = [];
  const why = new Map(leftOut);
  points.forEach((point, i) => {
    choice.onProgress?.(i, points.length);
    if (i % every !== 0) return;
    const result = runPoint({ ...point, framework: framework ?? point.framework });
    if (typeof result === 'string') why.set(result, (why.get(result) ?? 0) + 1);
    else results.push(result);
  });
  const rest = [...why].map(([reason, count]) => {
    return `* ${count} ${count === 1 ? 'row' : 'rows'}: ${reason}`;
  });
  const boards = [
    ...[scoreboard(heads(results)), 'By the number of clients, without racks and doubtful points:'],
    ...[scoreboard(byClients(results)), groupsOf(results)],
  ].join('\n\n');
  const text = `${boards}\n\nRows that are left out, by reason:\n\n${rest.join('\n')}\n`;
  return { results, text };
}

/** All points, in the parts that have an aim of their own. */
function heads(results: readonly ServingResult[]): BoardLine[] {
  const isOwn = (point: ServingPoint) => isSound(point) && !isSplit(point) && !isRack(point);
  const isVllm = (point: ServingPoint) => isOwn(point) && point.framework === 'vllm';
  const alone: Aim = { figure: 'ttftMedianAlone', percent: 20 };
  const isSplitRack = (point: ServingPoint) => isSplit(point) && isRack(point);
  return [
    ...lineOf('aggregated, all but GB200 and GB300', results, isOwn, [...means(12), alone]),
    ...lineOf('of these vLLM', results, isVllm, [...means(8), alone]),
    ...lineOf('doubtful by their own data', results, ({ isDoubtful }) => isDoubtful, []),
    ...lineOf(
      'P/D, all but GB200 and GB300',
      results,
      (point) => isSplit(point) && !isRack(point),
      [...means(12), alone],
    ),
    ...lineOf('P/D, GB200 and GB300', results, isSplitRack, [...means(40), alone]),
    ...lineOf('all', results, () => true, []),
  ];
}

/** Fewer clients launch more, more clients compute more: the causes of errors differ. */
const REGIMES = [
  ['1 to 4 clients', 4],
  ['5 to 32 clients', 32],
  ['33 to 128 clients', 128],
  ['over 128 clients', Infinity],
] as const;

function byClients(results: readonly ServingResult[]): BoardLine[] {
  return REGIMES.flatMap(([title, most], i) => {
    const least = i === 0 ? 0 : REGIMES[i - 1]![1];
    const isOf = (point: ServingPoint) =>
      isSound(point) && !isRack(point) && point.concurrency > least && point.concurrency <= most;
    return lineOf(title, results, isOf, []);
  });
}

/** The groups, and how many of those with an aim meet it. */
function groupsOf(results: readonly ServingResult[]): string {
  const lines = scoresOf(results).map((score) => {
    const isAimed = isSound(score.worst.point) && !isRack(score.worst.point);
    return { score, aims: isAimed ? GROUP_AIMS : [] };
  });
  const aimed = lines.filter(({ aims }) => aims.length > 0);
  const [tpot, throughput] = GROUP_AIMS.map(
    (aim) => aimed.filter(({ score }) => isMet(score, aim)).length,
  );
  return (
    `By group. ${tpot} of ${aimed.length} groups that are neither racks nor doubtful have a ` +
    `median error in TPOT of at most ${GROUP_PERCENT} %, ${throughput} in throughput.\n\n` +
    scoreboard(lines)
  );
}

const GROUP_PERCENT = 10;
const GROUP_AIMS: readonly Aim[] = [
  { figure: 'tpotMedian', percent: GROUP_PERCENT },
  { figure: 'throughputMedian', percent: GROUP_PERCENT },
];

function means(percent: number): Aim[] {
  return [
    { figure: 'tpotMeanAbsolute', percent },
    { figure: 'throughputMeanAbsolute', percent },
  ];
}

function isSound({ isDoubtful }: ServingPoint): boolean {
  return !isDoubtful;
}

function isSplit({ disaggregated }: ServingPoint): boolean {
  return disaggregated !== undefined;
}

function isRack({ system }: ServingPoint): boolean {
  return RACKS.has(system);
}

/** One line. Empty when no point is of the kind. */
function lineOf(
  title: string,
  results: readonly ServingResult[],
  isOf: (point: ServingPoint) => boolean,
  aims: readonly Aim[],
): BoardLine[] {
  const found = results.filter(({ point }) => isOf(point));
  return found.length === 0 ? [] : [{ score: scoreOf(title, found), aims }];
}
