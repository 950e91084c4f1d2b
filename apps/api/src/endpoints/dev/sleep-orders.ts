import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Exchanges } from '../../request/serve/exchanges';
import { type PauseMode, type SleepTag, SLEEP_TAGS } from './operations-query';
import { Operator } from './operator';

const EMPTY_LOOKS = 20;
const EMPTY_LOOK_MS = 50;

/**
 * Carries out the steps of pausing and sleeping in order, and records which parts of the engines
 * still sleep.
 */
@Injectable()
export class SleepOrders {
  private asleep = new Set<SleepTag>();

  constructor(
    private readonly operator: Operator,
    private readonly exchanges: Exchanges,
  ) {}

  async sleep(mode: PauseMode, level: 0 | 1 | 2): Promise<void> {
    await this.halt(mode, { isSleep: true, level });
    if (mode !== 'keep') await this.empty();
    this.asleep = new Set(SLEEP_TAGS);
  }

  /** Parts may wake one by one; requests resume when all parts are awake. */
  async wake(tags: readonly SleepTag[]): Promise<void> {
    for (const tag of tags) this.asleep.delete(tag);
    if (this.asleep.size === 0) await this.resume();
  }

  pause(mode: PauseMode): Promise<void> {
    return this.halt(mode, { isSleep: false });
  }

  async resume(): Promise<void> {
    await this.operator.askEngines({ kind: 'resume' });
  }

  /** False while requests run or KV is held, as in vLLM. */
  resetPrefixCache(forgetsHost: boolean): Promise<boolean> {
    return this.operator.askEngines({ kind: 'reset-prefix-cache', forgetsHost });
  }

  /**
   * New requests wait from now on; `wait` lets those of this process end first, `keep` stops them
   * where they are.
   */
  private async halt(
    mode: PauseMode,
    how: { readonly isSleep: boolean; readonly level?: 0 | 1 | 2 },
  ): Promise<void> {
    if (mode === 'wait') await this.exchanges.settled();
    await this.operator.askEngines({ kind: 'pause', ...how });
    if (mode === 'abort') await this.operator.abort(undefined);
  }

  /** Aborted requests give their blocks back when their engine's step ends. */
  private async empty(): Promise<void> {
    for (let look = 0; look < EMPTY_LOOKS; look += 1) {
      if (await this.resetPrefixCache(false)) return;
      await delay(EMPTY_LOOK_MS);
    }
  }
}
