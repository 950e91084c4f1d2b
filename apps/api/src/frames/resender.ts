import { channels } from '@baton/transport';
import type { EngineMessage } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { ApiIdentity, Broker } from '../tokens';
import type { Sequence } from '../sequences/sequence';

/** Requests in a row without a new token; after that only the ledger is read. */
const MAX_RESENDS = 3;
const RESEND_EVERY_MS = 400;

/** Asks an engine for the tokens of a sequence that did not arrive. */
@Injectable()
export class Resender {
  constructor(
    private readonly transport: Broker,
    private readonly identity: ApiIdentity,
  ) {}

  /**
   * Requests the missing entries of a gap: immediately after its first entry, then at most every
   * 400 ms and at most three times.
   */
  request(sequence: Sequence, engineId: string): void {
    const nowMs = sequence.heardMs;
    if (sequence.resends >= MAX_RESENDS || nowMs < sequence.resentMs + RESEND_EVERY_MS) return;
    sequence.resends += 1;
    sequence.resentMs = nowMs;
    this.send(sequence, engineId);
  }

  /** Sends a request in any state. */
  send(sequence: Sequence, engineId: string): void {
    const message: EngineMessage = {
      kind: 'resend',
      apiId: this.identity.apiId,
      requestId: sequence.job.requestId,
      streamId: sequence.streamId,
      fromIndex: sequence.received,
    };
    const payload = Buffer.from(JSON.stringify(message));
    this.transport.bus.publish(channels.engine(engineId), payload);
  }
}
