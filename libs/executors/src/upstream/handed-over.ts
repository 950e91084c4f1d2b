// What the record of a hand-over says to the engine that takes it.
import type { Epoch } from '@baton/contract';
import { EXECUTED } from '@baton/driver';
import type { Run } from '@baton/live-engine';
import type { HandoffRecord } from '@baton/transport';

/** A prefill run whose leg goes on beside decode's. */
export interface PrefillSource {
  readonly engineId: string;
  readonly epoch: Epoch;
}

export function sourceIn(handoff: HandoffRecord | undefined): PrefillSource | undefined {
  if (handoff?.prefillEngineId === undefined) return undefined;
  return { engineId: handoff.prefillEngineId, epoch: handoff.epoch };
}

/** Whether the record names KV that a server of ours holds. */
export function hasTransfer({ params, generation }: HandoffRecord): boolean {
  return generation === EXECUTED && Object.keys(params).length > 0;
}

/**
 * The record is gone, or a decode run before this one may have used what it names: a server reads
 * garbage under a name that was used.
 */
export function isSpent({ epoch }: Run, handoff: HandoffRecord | undefined): boolean {
  if (handoff === undefined) return true;
  return hasTransfer(handoff) && epoch !== handoff.epoch + 1;
}
