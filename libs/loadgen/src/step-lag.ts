import { areTooLate, LATE_MS, type LateFigureName } from '@baton/analysis';
import { figuresOf, type LateVerdict } from './late-verdict';
import { engineKeyOf, type Sample } from './metric-samples';

/** A bound of the buckets of both histograms: `LATE_MS` in seconds. */
const BOUND = String(LATE_MS / 1_000);

/** The parts that can be late, each with the end of the sentence about it. */
const EVENTS = {
  steps: { family: 'baton:step_lag_seconds', are: 'ended' },
  frames: { family: 'baton:frame_delay_seconds', are: 'were written' },
} as const;
type EventName = keyof typeof EVENTS;
const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

interface Counted {
  readonly all: number;
  /** More than 10 ms late on the wall clock. */
  readonly late: number;
}

const NONE: Counted = { all: 0, late: 0 };

/** Events of one simulated engine since its start. */
export interface EngineStepLag extends Readonly<Record<EventName, Counted>> {
  /** Distinguishes the engine from the others of its page. */
  readonly key: string;
  readonly stage: string;
}

/** The lag of each engine's steps; empty when the server simulates no steps or reports none. */
export function stepLagsIn(samples: readonly Sample[]): EngineStepLag[] {
  const stages = new Map(
    samples
      .filter(({ name }) => name === 'baton:step_time_info')
      .map((one) => [engineKeyOf(one), one.labels['stage'] ?? '']),
  );
  const steps = countedIn(samples, 'steps');
  const frames = countedIn(samples, 'frames');
  return Array.from(steps, ([key, counted]) => ({
    key,
    stage: stages.get(key) ?? '',
    steps: counted,
    frames: frames.get(key) ?? NONE,
  }));
}

/** The events of each engine, by its key. */
function countedIn(samples: readonly Sample[], event: EventName): Map<string, Counted> {
  const { family } = EVENTS[event];
  const onTime = new Map<string, number>();
  for (const one of samples) {
    const isBound = one.name === `${family}_bucket` && one.labels['le'] === BOUND;
    if (isBound) onTime.set(engineKeyOf(one), one.value);
  }
  const counts = samples.filter(({ name }) => name === `${family}_count`);
  return new Map(
    counts.map((one) => {
      const key = engineKeyOf(one);
      return [key, { all: one.value, late: one.value - (onTime.get(key) ?? one.value) }];
    }),
  );
}

/** The figures of single events of a stage, and the means over many. */
const STAGE_FIGURES: Readonly<
  Record<string, readonly [single: readonly LateFigureName[], means: readonly LateFigureName[]]>
> = {
  prefill: [['ttft', 'e2el'], ['throughput']],
  decode: [
    ['itl', 'e2el'],
    ['tpot', 'throughput'],
  ],
};
const OTHER_STAGE = [
  ['ttft', 'itl', 'e2el'],
  ['tpot', 'throughput'],
] as const;

/**
 * What was too late in a server between two readings; nothing when it was in time. A server is too
 * late when more than one step of a stage, and over 1 % of them, ended over 10 ms late. The same
 * limit holds for the frames with their tokens.
 */
export function lateEngines(
  before: readonly EngineStepLag[],
  after: readonly EngineStepLag[],
): LateVerdict[] {
  const earlier = new Map(before.map((one) => [one.key, one]));
  const stages = [...new Set(after.map(({ stage }) => stage))];
  return EVENT_NAMES.flatMap((event) =>
    stages.flatMap((stage) => {
      const counts = after.filter((one) => one.stage === stage);
      const [all, late] = sumOf(
        counts.map((one) => since(earlier.get(one.key)?.[event], one[event])),
      );
      if (!areTooLate(late, all)) return [];
      const events = `${late} of ${all} ${stage} ${event} of the server`;
      const reason = `${events} ${EVENTS[event].are} more than ${LATE_MS} ms late`;
      const [single, means] = STAGE_FIGURES[stage] ?? OTHER_STAGE;
      return [{ reason, figures: figuresOf({ late, all }, single, means) }];
    }),
  );
}

/** The events after an earlier reading. An engine that has begun again counts from 0. */
function since(was: Counted | undefined, { all, late }: Counted): Counted {
  if (was === undefined || was.all > all) return { all, late };
  return { all: all - was.all, late: late - was.late };
}

function sumOf(counts: readonly Counted[]): [all: number, late: number] {
  return counts.reduce<[number, number]>(
    ([all, late], one) => [all + one.all, late + one.late],
    [0, 0],
  );
}
