import { Injectable } from '@nestjs/common';
import { ModelCatalog } from '../cluster/model-catalog';
import { DueFrames } from '../frames/due-frames';
import { Config } from '../tokens';
import { Executions } from './executed/executions';
import { Player } from './playing/player';
import type { CheckedRequest, Call } from './take/call';
import { RequestThreads } from './threads/request-threads';

/** Time for which a request of 1,000 tokens holds the event loop until its jobs are sent. */
const REQUEST_WORK_US = 1_500;

/** First step: reads the request of a call, before any state is kept for it. */
@Injectable()
export class TakeStep {
  /** True when calls are answered from a recording, without any other step. */
  readonly plays: boolean;

  constructor(
    config: Config,
    private readonly catalog: ModelCatalog,
    private readonly executions: Executions,
    private readonly player: Player,
    private readonly threads: RequestThreads,
    private readonly frames: DueFrames,
  ) {
    this.plays = config.play !== undefined;
  }

  /** @throws BatonError `not_recorded` */
  play(call: Call): Promise<void> {
    return this.player.answer(call);
  }

  /**
   * Tokens that are due soon are written before the work for a request begins.
   *
   * @throws BatonError for an invalid body
   */
  take(call: Call): CheckedRequest | Promise<CheckedRequest> {
    const frame = this.frames.nextBefore(REQUEST_WORK_US);
    return frame === undefined ? this.read(call) : frame.then(() => this.read(call));
  }

  private read(call: Call): CheckedRequest | Promise<CheckedRequest> {
    const limits = this.catalog.limitsOf(call.tenant);
    if (this.executions.answers) return this.executions.check(call, limits);
    return this.threads.take(call, limits);
  }
}
