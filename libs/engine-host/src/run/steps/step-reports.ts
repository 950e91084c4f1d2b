import type { SequenceHandle, StepFacts } from '@baton/engine';
import { type Micros, usToSeconds } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { Injectable, Optional } from '@nestjs/common';
import { EngineSlot } from '../engine/engine-slot';
import { type StepListener, StepLoop } from '../engine/step-loop';
import { Intake } from '../jobs/intake';
import { TimelineFacts } from '../observers/timeline-facts';
import { RunTable } from '../runs/run';
import { DecodeStage, PrefillStage } from '../stages';
import { HostOptions } from '../tokens';

import { StepFrames } from './step-frames';
import { StepPace } from './step-pace';

/** Handles the outcome of a step: its numbers, its frames, and room for further work. */
@Injectable()
export class StepReports implements StepListener {
  private hasMadeRoom = false;

  constructor(
    private readonly options: HostOptions,
    private readonly pace: StepPace,
    private readonly stats: EngineStats,
    private readonly stepFrames: StepFrames,
    private readonly runs: RunTable,
    private readonly slot: EngineSlot,
    private readonly prefill: PrefillStage,
    private readonly decode: DecodeStage,
    private readonly intake: Intake,
    loop: StepLoop,
    @Optional() private readonly timelines?: TimelineFacts,
  ) {
    loop.listen(this);
  }

  onStep(durationUs: Micros, lateUs: number): void {
    const { options, pace, stats, intake } = this;
    intake.keepRoom();
    options.onStep?.(durationUs);
    pace.observe(durationUs, lateUs);
    stats.add('step_seconds', usToSeconds(durationUs));
    stats.observe('step_lag_seconds', usToSeconds(Math.max(0, lateUs)));
  }

  onFacts(facts: StepFacts): void {
    const { timelines, stepFrames, pace, decode } = this;
    timelines?.step(facts);
    stepFrames.begin(facts, pace.stepUs);
    decode.step(facts);
    const { emitted, finished, held, rejected, endUs } = facts;
    for (const handle of held) this.hold(handle, endUs);
    stepFrames.end();
    const left = finished.length + held.length + rejected.length;
    // Without tokens, the sequences of the step may have been aborted, and the engine be idle.
    this.hasMadeRoom = left > 0 || emitted.length === 0;
  }

  /** Sequences that waited for room do not enter the batch that was due before there was room. */
  onFormed(): void {
    const { intake } = this;
    intake.giveRoom();
    if (this.hasMadeRoom) intake.wake();
    this.hasMadeRoom = false;
  }

  onBegun(startUs: Micros): void {
    const { decode, intake, slot } = this;
    const hasReserved = decode.fetch(startUs);
    if (hasReserved || slot.engine.hasAdmitted) intake.wake();
  }

  onReAnchor(): void {
    this.stats.add('clock_reanchors');
  }

  /** The blocks of a run that has ended meanwhile are free again. */
  private hold(handle: SequenceHandle, endUs: Micros): void {
    const run = this.runs.at(handle);
    if (run === undefined) {
      this.slot.engine.releaseHeld(handle);
      return;
    }
    this.stepFrames.held(run);
    this.prefill.hold(run, endUs);
  }
}
