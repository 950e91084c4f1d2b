import type { EngineFact, EngineFacts, EngineJob, Epoch, RunFacts, Stage } from '@baton/contract';
import type { End, ObservedSequence, SequenceHistory } from '../port/port';
import { StepMarks } from './step-marks';

/** Facts of one run that are kept: more than any run has that goes well. */
const MOST_FACTS = 128;

/** What is kept of a job: its block hashes would be many times the rest. */
export type TracedJob = Pick<EngineJob, 'requestId' | 'promptTokens' | 'flow'>;

/** What the engine of one stage sent. */
export interface StageFacts {
  readonly engineId: string;
  readonly epoch: Epoch;
  readonly facts: EngineFact[];
}

export interface TraceEnd extends End {
  /** µs of the wall clock since the Unix epoch. */
  readonly atUs: number;
}

/**
 * All that is kept of one sequence: its history, and what its engines sent beside their frames. Of
 * a sequence that ran more than once in a stage the last run there counts. Instants are µs of the
 * wall clock since the Unix epoch.
 */
export class SequenceTrace {
  readonly marks = new StepMarks();
  readonly stages = new Map<Stage, StageFacts>();
  end: TraceEnd | undefined;
  received = 0;
  cachedTokens = 0;

  readonly job: TracedJob;

  constructor(
    { requestId, promptTokens, flow }: TracedJob,
    readonly index: number,
    readonly seen: SequenceHistory,
  ) {
    this.job = { requestId, promptTokens, flow };
  }

  tokens(received: number, stampedUs: number): void {
    this.marks.add(stampedUs, received);
    this.received = received;
  }

  noteEnd({ received, cachedTokens }: ObservedSequence, end: TraceEnd): void {
    this.received = received;
    this.cachedTokens = cachedTokens;
    this.end ??= end;
  }

  noteFacts({ engineId, stage }: EngineFacts, { epoch, facts }: RunFacts): void {
    const known = this.stages.get(stage);
    if (known !== undefined && known.epoch > epoch) return;
    const isSame = known !== undefined && known.epoch === epoch && known.engineId === engineId;
    const all = isSame ? [...known.facts, ...facts] : [...facts];
    this.stages.set(stage, { engineId, epoch, facts: all.slice(0, MOST_FACTS) });
  }

  /** The facts of one kind with the engines that sent them, in the order in which they came. */
  all(kind: EngineFact[0]): { readonly engineId: string; readonly fact: EngineFact }[] {
    return [...this.stages.values()].flatMap(({ engineId, facts }) =>
      facts.filter(([of]) => of === kind).map((fact) => ({ engineId, fact })),
    );
  }
}
