import { wallUsOf } from '@baton/clock';
import { BatonError, type KvTransferParams, parseKvTransferParams } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Config } from '../tokens';
import { KvRelease } from './kv-release';

/** The result of the prefill leg, for its decode leg. */
export type Met =
  | { readonly kind: 'held'; readonly params: KvTransferParams; readonly atUs: number }
  /**
   * `failed`: the prefill leg failed. `absent`: it did not come in time. `taken`: another decode
   * leg had the result.
   */
  | { readonly kind: 'failed' | 'absent' | 'taken' };

interface Pair {
  /** `taken`: its decode leg has the result. `abandoned`: its decode leg will never come. */
  state: 'expected' | 'computing' | 'held' | 'failed' | 'taken' | 'abandoned';
  params: KvTransferParams | undefined;
  heldAtUs: number;
  /** The waiting decode leg. */
  tell: ((met: Met) => void) | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Beyond this many the oldest pairs are dropped; their leases then free the blocks. */
const MAX_PAIRS = 65_536;

/**
 * Pairs the two legs of a hand-over that an outside router sends at the same time: the decode leg
 * waits until its prompt is held. A pair serves one decode leg; blocks that no leg can fetch any
 * more are released immediately. Only legs of this process are paired.
 */
@Injectable()
export class LegPairs {
  private readonly pairs = new Map<string, Pair>();
  private waiting = 0;

  constructor(
    private readonly config: Config,
    private readonly release: KvRelease,
  ) {}

  /**
   * Records that the prefill leg of these names has come. A second leg of the same name replaces
   * the first.
   */
  prefillCame(names: readonly string[]): void {
    for (const name of names) {
      const pair = this.pairs.get(name);
      if (pair?.state === 'abandoned') continue;
      if (pair?.tell === undefined) this.put(name, newPair('computing'));
      else this.move(name, pair, 'computing');
    }
  }

  /**
   * Records that the prompt is held under `raw`, or that it failed. Only a pair in state
   * `computing` can end.
   */
  prefillEnded(names: readonly string[], raw: unknown): void {
    const params = parseKvTransferParams(raw);
    for (const name of names) {
      const pair = this.pairs.get(name);
      if (pair === undefined) continue;
      if (pair.state === 'abandoned' && params !== undefined) this.giveUp(params);
      if (pair.state !== 'computing') continue;
      pair.params = params;
      pair.heldAtUs = wallUsOf();
      this.move(name, pair, params === undefined ? 'failed' : 'held');
      if (pair.tell !== undefined) this.conclude(name, pair);
    }
  }

  /** Records that a prefill leg was refused before anything was computed. */
  prefillRefused(names: readonly string[]): void {
    this.prefillCame(names);
    this.prefillEnded(names, undefined);
  }

  /** Waits for the prefill leg, until `left` at most. Throws `queue_full` when too many wait. */
  async meet(name: string, left: AbortSignal): Promise<Met> {
    const pair = this.pairs.get(name) ?? this.put(name, newPair('expected'));
    if (pair.tell !== undefined || pair.state === 'taken') return { kind: 'taken' };
    if (pair.state === 'abandoned') return { kind: 'absent' };
    if (this.waiting >= this.config.maxWaitingRequests) throw new BatonError('queue_full');
    this.waiting += 1;
    const leave = (): void => this.abandonBlocks(name);
    try {
      return await new Promise<Met>((resolve) => {
        pair.tell = resolve;
        if (pair.state === 'held' || pair.state === 'failed') this.conclude(name, pair);
        else if (left.aborted) leave();
        else left.addEventListener('abort', leave);
      });
    } finally {
      left.removeEventListener('abort', leave);
      this.waiting -= 1;
    }
  }

  /**
   * Records that a decode leg was refused before it met its prefill leg; an earlier decode leg
   * stays.
   */
  decodeRefused(name: string): void {
    const pair = this.pairs.get(name);
    if (pair?.tell === undefined && pair?.state !== 'taken') this.abandonBlocks(name);
  }

  /**
   * Records that no decode leg will fetch the blocks of this pair, now or after their computation.
   */
  private abandonBlocks(name: string): void {
    const pair = this.pairs.get(name) ?? this.put(name, newPair('abandoned'));
    if (pair.params !== undefined) this.giveUp(pair.params);
    pair.params = undefined;
    this.move(name, pair, 'abandoned');
    pair.tell?.({ kind: 'absent' });
    pair.tell = undefined;
  }

  private conclude(name: string, pair: Pair): void {
    const { tell, params, heldAtUs: atUs } = pair;
    pair.tell = undefined;
    this.move(name, pair, 'taken');
    tell?.(params === undefined ? { kind: 'failed' } : { kind: 'held', params, atUs });
  }

  private put(name: string, pair: Pair): Pair {
    const former = this.pairs.get(name);
    clearTimeout(former?.timer);
    this.pairs.delete(name);
    this.pairs.set(name, pair);
    this.move(name, pair, pair.state);
    const oldest = this.pairs.size > MAX_PAIRS ? [...this.pairs.keys()][0] : undefined;
    if (oldest !== undefined) this.forget(oldest);
    return pair;
  }

  /** A prefill leg under way runs to its end; all other pairs are dropped after their time. */
  private move(name: string, pair: Pair, state: Pair['state']): void {
    pair.state = state;
    clearTimeout(pair.timer);
    pair.timer = undefined;
    if (state === 'computing') return;
    const { kvLegTimeout, kvLeaseDuration, speedup } = this.config;
    const seconds = state === 'expected' ? kvLegTimeout : kvLeaseDuration / speedup;
    pair.timer = setTimeout(() => this.forget(name), seconds * 1_000);
    pair.timer.unref();
  }

  private forget(name: string): void {
    const pair = this.pairs.get(name);
    if (pair === undefined) return;
    clearTimeout(pair.timer);
    this.pairs.delete(name);
    pair.tell?.({ kind: 'absent' });
  }

  private giveUp(params: KvTransferParams): void {
    this.release.refused(params);
  }
}

function newPair(state: Pair['state']): Pair {
  return { state, params: undefined, heldAtUs: 0, tell: undefined, timer: undefined };
}
