import type { StepFacts } from '@baton/engine';
import { type Micros, usToSeconds } from '@baton/kernel';
import type { EngineStats } from '@baton/telemetry';
import type { TargetSide } from '../handoff/target-side';
import type { Intake } from '../jobs/intake';
import type { StepFrames } from '../steps/step-frames';
import type { StepListener } from '../steps/step-loop';
import type { StepPace } from '../steps/step-pace';
import type { HostOptions } from './host-options';
import type { TimelineFacts } from './timeline-facts';

export interface StepReportsParts {
  readonly options: Pick<HostOptions, 'onStep'>;
  readonly pace: StepPace;
  readonly stats: EngineStats;
  readonly timelines: TimelineFacts;
  readonly stepFrames: StepFrames;
  readonly target: TargetSide;
  readonly intake: Intake;
}

/** What follows from a step: its numbers, its frames, and room for further work. */
export class StepReports implements StepListener {
  constructor(private readonly parts: StepReportsParts) {}

  onStep(durationUs: Micros, lateUs: number): void {
    const { options, pace, stats } = this.parts;
    options.onStep?.(durationUs);
    pace.observe(durationUs, lateUs);
    stats.observe('step_lag_seconds', usToSeconds(Math.max(0, lateUs)));
  }

  onFacts(facts: StepFacts): void {
    const { timelines, stepFrames, pace, intake } = this.parts;
    timelines.step(facts);
    stepFrames.publish(facts, pace.stepUs);
    const { scheduled, finished, held, rejected } = facts;
    const left = finished.length + held.length + rejected.length;
    if (scheduled.length + left > 0) intake.wake();
  }

  onBegun(startUs: Micros): void {
    const { target, intake } = this.parts;
    if (target.reserve(startUs)) intake.wake();
  }

  onReAnchor(): void {
    this.parts.stats.add('clock_reanchors');
  }
}
