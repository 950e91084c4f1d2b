import { BatonError } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Broker } from '../../tokens';

/**
 * Decides whether this process takes requests at all. Steps that wait check again before they
 * continue.
 */
@Injectable()
export class AcceptingState {
  /** True while the process drains. */
  isClosing = false;

  constructor(private readonly transport: Broker) {}

  /** Refuses new requests from now on; those under way continue. */
  stopAccepting(): void {
    this.isClosing = true;
  }

  /** @throws BatonError `shutting_down` or `broker_unavailable` */
  refuseWhenClosing(): void {
    if (this.isClosing) throw new BatonError('shutting_down');
    const { isConnected, trouble } = this.transport;
    // What a broker that evicts has stored may be gone a moment later.
    if (!isConnected || trouble === 'evicting') throw new BatonError('broker_unavailable');
  }
}
