import type { BatonConfig } from '@baton/config';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../cluster/model-catalog';
import { CONFIG } from '../tokens';
import { OpenDoor } from './take/open-door';
import { Executions } from './executed/executions';
import { Player } from './playing/player';
import type { Asked, Call } from './take/call';
import { RequestThreads } from './threads/request-threads';

/** First step: reads the request of a call, before any state is kept for it. */
@Injectable()
export class TakeStep {
  /** True when calls are answered from a recording, without any other step. */
  readonly plays: boolean;

  constructor(
    @Inject(CONFIG) config: BatonConfig,
    private readonly door: OpenDoor,
    private readonly catalog: ModelCatalog,
    private readonly executions: Executions,
    private readonly player: Player,
    private readonly threads: RequestThreads,
  ) {
    this.plays = config.play !== undefined;
  }

  /** @throws BatonError `not_recorded` */
  play(call: Call): Promise<void> {
    return this.player.answer(call);
  }

  /** @throws BatonError while no request is admitted, and for an invalid body */
  take(call: Call): Asked | Promise<Asked> {
    this.door.refuseWhenClosed();
    const limits = this.catalog.limitsOf(call.tenant);
    if (this.executions.answers) return this.executions.ask(call, limits);
    return this.threads.take(call, limits);
  }
}
