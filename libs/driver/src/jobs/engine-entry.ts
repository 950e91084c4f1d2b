import type { LiveClock } from '@baton/clock';
import type { SequenceSpec } from '@baton/engine';
import { hashString } from '@baton/kernel';
import type { EngineSlot } from '../host/engine-slot';
import type { KvEvents } from '../kv-events/kv-events';
import type { Endings } from './endings';
import type { IncomingRuns } from './incoming-runs';
import type { Run, RunTable } from './run';

export interface EngineEntryParts {
  readonly slot: EngineSlot;
  readonly runs: RunTable;
  readonly incoming: IncomingRuns;
  readonly clock: LiveClock;
  readonly kvEvents: KvEvents | undefined;
  readonly endings: Endings;
}

/** Submits the sequence of a run to the simulated engine. */
export class EngineEntry {
  constructor(private readonly parts: EngineEntryParts) {}

  /** False when the engine can never run it, which ends the request. */
  submit(run: Run, mode: SequenceSpec['mode'], remoteTokens?: number): boolean {
    const { slot, runs, incoming, kvEvents, endings } = this.parts;
    kvEvents?.learn(run.job);
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

  private specOf({ job }: Run, mode: SequenceSpec['mode'], remoteTokens?: number): SequenceSpec {
    return {
      requestId: job.requestId,
      promptTokens: job.promptTokens,
      outputTokens: mode === 'prefill-and-hold' ? 1 : job.outputTokens,
      endReason: job.endReason,
      blockHashes: job.blockHashes,
      priority: job.priority,
      arrivalUs: this.parts.clock.toSimUs(job.arrivalUs),
      mode,
      ...(remoteTokens === undefined ? {} : { remoteTokens }),
      ...(job.keepsKv ? { holdsAtEnd: true } : {}),
      ...(job.adapter === undefined ? {} : { adapter: adapterNumber(job.adapter) }),
      ...(job.engineParameters && { parameters: job.engineParameters }),
    };
  }
}

/** The engine knows adapters by number, and none as 0. */
function adapterNumber(name: string): number {
  return hashString(name) || 1;
}
