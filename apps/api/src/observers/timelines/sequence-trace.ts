import type {
  EndReason,
  EngineFact,
  EngineFacts,
  EngineJob,
  Epoch,
  ErrorCode,
  FrameEntry,
  FrameHeader,
  RunFacts,
  Stage,
} from '@baton/contract';
import type { Sequence } from '../../frames/sequence';
import { Observation } from '../recording/observation';
import { StepMarks } from './step-marks';

/** Facts of one run that are kept: more than any run has that goes well. */
const MOST_FACTS = 128;

/** What is kept of a job: its block hashes would be many times the rest. */
export type TracedJob = Pick<EngineJob, 'requestId' | 'promptTokens' | 'flow'>;

/** What the engine of one stage has told. */
export interface StageFacts {
  readonly engineId: string;
  readonly epoch: Epoch;
  readonly facts: EngineFact[];
}

export interface TraceEnd {
  readonly reason: EndReason;
  readonly error?: ErrorCode | undefined;
  /** µs of the wall clock since the Unix epoch. */
  readonly atUs: number;
}

/**
 * All that is noted of one sequence: what its frames said, as a recording has it, and what its engines told beside them. Of a sequence that ran more than
 * once in a stage the last run there counts. Instants are µs of the wall clock since the Unix epoch.
 */
export class SequenceTrace {
  readonly seen: Observation;
  readonly marks = new StepMarks();
  readonly stages = new Map<Stage, StageFacts>();
  end: TraceEnd | undefined;
  received = 0;
  cachedTokens = 0;

  readonly job: TracedJob;

  constructor(
    { requestId, promptTokens, flow }: TracedJob,
    readonly index: number,
    endpoint: string,
  ) {
    this.job = { requestId, promptTokens, flow };
    this.seen = new Observation(endpoint, undefined);
  }

  noted(sequence: Sequence, entry: Readonly<FrameEntry>, header: FrameHeader): void {
    this.seen.noted(sequence, entry, header);
  }

  tokens(received: number, stampedUs: number): void {
    this.marks.add(stampedUs, received);
    this.received = received;
  }

  ended({ received, cachedTokens }: Sequence, end: TraceEnd): void {
    this.received = received;
    this.cachedTokens = cachedTokens;
    this.end ??= end;
  }

  told({ engineId, stage }: EngineFacts, { epoch, facts }: RunFacts): void {
    const known = this.stages.get(stage);
    if (known !== undefined && known.epoch > epoch) return;
    const isSame = known !== undefined && known.epoch === epoch && known.engineId === engineId;
    const all = isSame ? [...known.facts, ...facts] : [...facts];
    this.stages.set(stage, { engineId, epoch, facts: all.slice(0, MOST_FACTS) });
  }

  /** The facts of one kind with the engines that told them, in the order in which they were told. */
  all(kind: EngineFact[0]): { readonly engineId: string; readonly fact: EngineFact }[] {
    return [...this.stages.values()].flatMap(({ engineId, facts }) =>
      facts.filter(([of]) => of === kind).map((fact) => ({ engineId, fact })),
    );
  }
}
