import { BatonError } from '@baton/contract';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { TRANSPORT } from '../../tokens';

/** Whether this process takes requests at all. Steps that wait check again before they go on. */
@Injectable()
export class OpenDoor {
  /** The process drains. */
  isClosing = false;

  constructor(@Inject(TRANSPORT) private readonly transport: Transport) {}

  /** No new requests from now on; those under way go on. */
  close(): void {
    this.isClosing = true;
  }

  /** @throws BatonError `shutting_down` or `broker_unavailable` */
  refuseWhenClosed(): void {
    if (this.isClosing) throw new BatonError('shutting_down');
    if (!this.transport.isConnected) throw new BatonError('broker_unavailable');
  }
}
