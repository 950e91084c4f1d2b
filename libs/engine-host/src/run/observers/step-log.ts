import { stepLogLine } from '@baton/calibration';
import type { BatonConfig, EngineSetup } from '@baton/config';
import type { Stage } from '@baton/contract';
import { type Micros, usToMs } from '@baton/kernel';
import type { BatchAggregates, StepTimeModel } from '@baton/step-time';
import { LineFile, type Logger } from '@baton/telemetry';

/** A setup whose engine is watched, and the function that gets the length of each of its steps. */
export interface WatchedSetup {
  readonly setup: EngineSetup;
  readonly onStep: (durationUs: Micros) => void;
}

/**
 * The log of steps of one process (`log_steps`): a line per step of each of its engines. Other
 * processes append to the same file.
 */
export class StepLog {
  private engines = 0;

  private constructor(private readonly file: LineFile) {}

  /**
   * Undefined when none is configured.
   *
   * @throws UsageError when the file cannot be written
   */
  static async open({ logSteps }: BatonConfig, log: Logger): Promise<StepLog | undefined> {
    if (logSteps === undefined) return undefined;
    const file = await LineFile.open(logSteps, 'append', log);
    return file && new StepLog(file);
  }

  /** The setup for one further engine, whose step times come through the log. */
  watch(setup: EngineSetup, role: Stage): WatchedSetup {
    const name = `${role}-${process.pid}-${this.engines++}`;
    const stepTime = new WatchedStepTime(setup.options.stepTime);
    return {
      setup: { ...setup, options: { ...setup.options, stepTime } },
      onStep: (durationUs) => this.add(stepTime.batch, durationUs, name),
    };
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /** Writes the line of an ended step; a step without computation has none. */
  private add(batch: SeenBatch, durationUs: Micros, engine: string): void {
    if (batch.prefillTokens + batch.decodeSeqs === 0) return;
    this.file.add(stepLogLine({ ...batch, ms: usToMs(durationUs) }, engine));
    batch.prefillTokens = 0;
    batch.decodeSeqs = 0;
  }
}

type SeenBatch = { -readonly [K in keyof Omit<BatchAggregates, 'expertTokens'>]-?: number };

/**
 * Wraps another model, returns its answers and keeps the last batch. It has no law for decode
 * steps, because a law would bypass it: the times are the same, but each step is rounded to a
 * microsecond by itself.
 */
class WatchedStepTime implements StepTimeModel {
  readonly description: string;
  readonly tokenJitterUs?: NonNullable<StepTimeModel['tokenJitterUs']>;
  readonly batch: SeenBatch = {
    prefillTokens: 0,
    prefillSeqs: 0,
    prefillQuadratic: 0,
    prefillContext: 0,
    decodeSeqs: 0,
    decodeContext: 0,
    draftTokens: 0,
    kvUsage: 0,
  };

  constructor(private readonly model: StepTimeModel) {
    this.description = model.description;
    // The presence of this method means that a model has jitter.
    if (model.tokenJitterUs) this.tokenJitterUs = model.tokenJitterUs.bind(model);
  }

  stepUs(priced: BatchAggregates): number {
    const { batch } = this;
    batch.prefillTokens = priced.prefillTokens;
    batch.prefillSeqs = priced.prefillSeqs;
    batch.prefillQuadratic = priced.prefillQuadratic;
    batch.prefillContext = priced.prefillContext;
    batch.decodeSeqs = priced.decodeSeqs;
    batch.decodeContext = priced.decodeContext;
    batch.draftTokens = priced.draftTokens ?? 0;
    batch.kvUsage = priced.kvUsage;
    return this.model.stepUs(priced);
  }
}
