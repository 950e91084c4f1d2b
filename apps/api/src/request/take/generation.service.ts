import { BatonError } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Observers } from '../../observers/observers';
import { KvRelease } from '../../routers/kv-release';
import { Legs } from '../../routers/legs';
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
    private readonly player: Player,
    private readonly intake: RequestIntake,
    private readonly dispatcher: Dispatcher,
    private readonly legs: Legs,
    private readonly release: KvRelease,
    private readonly observers: Observers,
  ) {}

  /** Answers the call in full: when it resolves the jobs are submitted and the exchange goes on by itself. */
  async answer(call: Call): Promise<void> {
    try {
      await (this.player.isOn ? this.player.answer(call) : this.compute(call));
    } catch (error) {
      if (error instanceof BatonError) this.observers.refused(call, error);
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
}
