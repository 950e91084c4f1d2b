import type { SourceFact, TargetFact, TransferStart } from '@baton/handoff';

/** Requests are identified by rows, engines by indices. */
export type Facts = { source: SourceFact<number>; target: TargetFact<number> };

type Of<F extends { kind: string }, K extends F['kind']> = Extract<F, { kind: K }>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] extends object ? Mutable<T[K]> : T[K] };
type Source<K extends Facts['source']['kind']> = Mutable<Of<Facts['source'], K>>;
type Target<K extends Facts['target']['kind']> = Mutable<Of<Facts['target'], K>>;

/**
 * One reused object per kind of fact that every request brings. Coordinators copy what they need
 * from a fact, and no fact is passed in while another of its kind is being handled.
 */
export class HandoffFacts {
  readonly held: Source<'prompt-held'> = {
    kind: 'prompt-held',
    requestId: 0,
    epoch: 1,
    tokens: 0,
    nowUs: 0,
  };
  readonly accepted: Target<'accepted'> = {
    kind: 'accepted',
    requestId: 0,
    epoch: 1,
    nowUs: 0,
    source: { engineId: 0, requestId: 0, epoch: 1, generation: 0 },
  };
  readonly reserved: Target<'reserved'> = {
    kind: 'reserved',
    requestId: 0,
    epoch: 1,
    missingTokens: 0,
    missingBlocks: 0,
    nowUs: 0,
  };
  readonly requested: Source<'read-requested'> = {
    kind: 'read-requested',
    requestId: 0,
    epoch: 1,
    generation: 0,
    reader: 0,
    readerRequestId: 0,
    attempt: 0,
    nowUs: 0,
  };
  readonly answered: Target<'read-answered'> = {
    kind: 'read-answered',
    from: 0,
    requestId: 0,
    attempt: 0,
    outcome: 'blocks',
    heldTokens: 0,
    bytesPerSecond: 0,
    ports: 1,
    bytesPerToken: 0,
    activeReads: 0,
    nowUs: 0,
  };
  readonly done: Target<'transfer-done'> = {
    kind: 'transfer-done',
    requestId: 0,
    epoch: 1,
    nowUs: 0,
  };
  readonly ended: Source<'read-ended'> = {
    kind: 'read-ended',
    requestId: 0,
    generation: 0,
    reader: 0,
    readerRequestId: 0,
    outcome: 'done',
    nowUs: 0,
  };
  readonly start: Mutable<TransferStart<number>> = {
    id: 0,
    sourceId: 0,
    targetId: 0,
    bytes: 0,
    baseLatencyUs: 0,
    nowUs: 0,
    sourceBytesPerSecond: 0,
    targetBytesPerSecond: 0,
    sourcePorts: 1,
  };
}
