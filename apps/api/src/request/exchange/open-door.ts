import { BatonError } from '@baton/contract';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { TRANSPORT } from '../../tokens';
import { LiveExchanges } from './live-exchanges';

/** Whether this process takes requests at all. Steps that wait ask again when they go on. */
@Injectable()
export class OpenDoor {
  constructor(
    @Inject(TRANSPORT) private readonly transport: Transport,
    private readonly live: LiveExchanges,
  ) {}

  /** @throws BatonError `shutting_down` or `broker_unavailable` */
  refuseWhenClosed(): void {
    if (this.live.isClosing) throw new BatonError('shutting_down');
    if (!this.transport.isConnected) throw new BatonError('broker_unavailable');
  }
}
