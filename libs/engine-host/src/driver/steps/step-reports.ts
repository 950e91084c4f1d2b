import { Injectable, Optional } from '@nestjs/common';
import { HostOptions } from '../../live-engine/tokens';
import type { StepFacts } from '@baton/engine';
import { type Micros, usToSeconds } from '@baton/kernel';
import { EngineSlot } from '../../live-engine/engine/engine-slot';
import { type StepListener, StepLoop } from '../../live-engine/engine/step-loop';
import { TimelineFacts } from '../../live-engine/observers/timeline-facts';
import { EngineStats } from '@baton/telemetry';
import { Intake } from '../jobs/intake';
import { TargetSide } from '../handoff/target-side';

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
    private readonly target: TargetSide,
    private readonly slot: EngineSlot,
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
    const { timelines, stepFrames, pace } = this;
    timelines?.step(facts);
    stepFrames.publish(facts, pace.stepUs);
    const { emitted, finished, held, rejected } = facts;
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
    const { target, intake, slot } = this;
    const hasReserved = target.reserve(startUs);
    if (hasReserved || slot.engine.hasAdmitted) intake.wake();
  }

  onReAnchor(): void {
    this.stats.add('clock_reanchors');
  }
}
