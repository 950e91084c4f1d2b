// Reads the record of a hand-over for the decode engine.
import type { Epoch } from '@baton/contract';
import type { HandoffRecord } from '@baton/transport';
import { EXECUTED } from '../../prefill/handoff';
import type { Run } from '../../run/runs/run';

/** A prefill run whose leg is under way at the same time as decode's. */
export interface PrefillSource {
  readonly engineId: string;
  readonly epoch: Epoch;
}

export function sourceIn(handoff: HandoffRecord | undefined): PrefillSource | undefined {
  if (handoff?.prefillEngineId === undefined) return undefined;
  return { engineId: handoff.prefillEngineId, epoch: handoff.epoch };
}

/** Whether the record contains KV that an upstream server holds. */
export function hasTransfer({ params, generation }: HandoffRecord): boolean {
  return generation === EXECUTED && Object.keys(params).length > 0;
}

/**
 * Whether the KV cannot be read: the record does not exist any more, or an earlier decode run can
 * have used it. Under a used name a server reads invalid data.
 */
export function isSpent({ epoch }: Run, handoff: HandoffRecord | undefined): boolean {
  if (handoff === undefined) return true;
  return hasTransfer(handoff) && epoch !== handoff.epoch + 1;
}
