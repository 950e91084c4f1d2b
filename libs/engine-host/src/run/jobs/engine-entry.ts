import { LiveClock } from '@baton/clock';
import type { SequenceSpec } from '@baton/engine';
import { hashString, type Micros } from '@baton/kernel';
import { Injectable, Optional } from '@nestjs/common';
import { Endings } from '../endings/endings';
import { EngineSlot } from '../engine/engine-slot';
import { StepLoop } from '../engine/step-loop';
import { JobFaults } from '../faults/job-faults';
import { KvEvents } from '../observers/kv-events';
import { IncomingRuns, type Run, RunTable } from '../runs/run';
import { HostOptions } from '../tokens';

/** What the engine does with a sequence. */
export type EntryMode = SequenceSpec['mode'];

/** The sequences of runs in the simulated engine. */
@Injectable()
export class EngineEntry {
  constructor(
    private readonly options: HostOptions,
    private readonly loop: StepLoop,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly incoming: IncomingRuns,
    private readonly clock: LiveClock,
    private readonly endings: Endings,
    private readonly jobFaults: JobFaults,
    @Optional() private readonly kvEvents?: KvEvents,
  ) {}

  /** A job that arrives before its cause, because its sender had a lead, waits for that instant. */
  atCause(run: Run, start: () => void): void {
    const { clock, options, slot } = this;
    const nowUs = clock.nowUs();
    const aheadUs = Math.min(run.causeUs - nowUs, (options.resultLeadUs ?? 0) * clock.speedup);
    if (aheadUs <= 0) return start();
    clock.aroundSim(nowUs + aheadUs, () => {
      if (run.state === 'running') slot.guard(start);
    });
  }

  /** Submits the run before the first step that starts at or after the job's cause. */
  enter(run: Run, mode: EntryMode): void {
    this.loop.enter(run.causeUs, () => {
      if (run.state === 'running') this.submit(run, mode);
    });
  }

  /**
   * @param remoteTokens tokens of the prompt whose KV comes from elsewhere; unset: as `mode` says
   * @returns false when the engine can never run it, which ends the request
   */
  submit(run: Run, mode: EntryMode, remoteTokens?: number): boolean {
    const { slot, runs, incoming, kvEvents, endings } = this;
    kvEvents?.addJob(run.job);
    incoming.settle(run);
    const admission = slot.engine.submit(this.specOf(run, mode, remoteTokens));
    if (admission.kind === 'accepted') {
      runs.bind(run, admission.handle);
      return true;
    }
    const isTooLong = admission.why === 'exceeds-context';
    endings.failRequest(run, isTooLong ? 'context_length_exceeded' : 'kv_capacity_exceeded');
    return false;
  }

  /** The KV of the run has arrived: its sequence joins the first batch from `readyUs` on. */
  join(run: Run, readyUs: Micros): void {
    const { loop, slot, jobFaults } = this;
    const join = (): void => {
      if (run.handle < 0) return;
      run.hasFetched = true;
      slot.engine.kvArrived(run.handle);
    };
    if (run.job.faults === undefined) loop.enter(readyUs, join);
    else jobFaults.onDecode(run, readyUs, (joinUs) => loop.enter(joinUs, join));
  }

  private specOf({ job }: Run, mode: EntryMode, remoteTokens?: number): SequenceSpec {
    return {
      requestId: job.requestId,
      promptTokens: job.promptTokens,
      outputTokens: mode === 'prefill-and-hold' ? 1 : job.outputTokens,
      endReason: job.endReason,
      blockHashes: job.blockHashes,
      priority: job.priority,
      arrivalUs: this.clock.toSimUs(job.arrivalUs),
      mode,
      ...(remoteTokens === undefined ? {} : { remoteTokens }),
      ...(job.keepsKv ? { holdsAtEnd: true } : {}),
      ...(job.adapter === undefined ? {} : { adapter: adapterNumber(job.adapter) }),
      ...(job.engineParameters && { parameters: job.engineParameters }),
    };
  }
}

/** The number of an adapter in the engine, from 1; 0 is none. */
function adapterNumber(name: string): number {
  return hashString(name) || 1;
}
