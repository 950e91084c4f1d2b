import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { Inject, Injectable } from '@nestjs/common';
import { renderErrorAt } from '../../http/error-renderer';
import { RequestRecorder } from '../../observers/recording/request-recorder';
import { WireTaps } from '../../observers/recording/wire-taps';
import { KvRelease } from '../../routers/kv-release';
import { Legs } from '../../routers/legs';
import { CONFIG } from '../../tokens';
import { Dispatcher } from '../dispatch/dispatcher';
import { Player } from '../playing/player';
import type { Call } from './call';
import { RequestIntake } from './request-intake';

/**
 * The way of a request: check, plan, choose a route, admit, submit, answer. Everything up to the submission may throw and becomes an HTTP error; after
 * that the exchange owns the answer.
 */
@Injectable()
export class GenerationService {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly player: Player,
    private readonly intake: RequestIntake,
    private readonly dispatcher: Dispatcher,
    private readonly legs: Legs,
    private readonly release: KvRelease,
    private readonly recorder: RequestRecorder,
    private readonly taps: WireTaps,
  ) {}

  /** Answers the call in full: when it resolves the jobs are submitted and the exchange goes on by itself. */
  async answer(call: Call): Promise<void> {
    try {
      await (this.player.isOn ? this.player.answer(call) : this.compute(call));
    } catch (error) {
      if (error instanceof BatonError) this.refused(call, error);
      this.legs.refused(call);
      // A client may try again what was refused for a lack of room; what is wrong with the request stays wrong.
      if (error instanceof BatonError && error.entry.status <= 404) this.release.refused(call.body);
      throw error;
    }
  }

  private async compute(call: Call): Promise<void> {
    const admission = await this.intake.take(call);
    if (admission !== undefined) await this.dispatcher.dispatch(admission);
  }

  private refused(call: Call, error: BatonError): void {
    this.recorder.refused(call, error.code);
    const tap = this.taps.tapFor(call);
    if (tap === undefined) return;
    const { status, headers, body } = renderErrorAt(call.message.url, error, this.config.dialect);
    tap.head(status, headers);
    tap.bytes(body);
    tap.end();
  }
}
