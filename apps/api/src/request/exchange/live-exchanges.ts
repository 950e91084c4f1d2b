import { setTimeout as delay } from 'node:timers/promises';
import { BatonError } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { ReaderWatch } from '../../http/streaming/reader-watch';
import type { Exchange } from './exchange';

/** The pause between two checks of whether requests have ended. */
const SETTLED_CHECK_MS = 20;

/** The requests of this process whose answers are not through, and whether it takes new ones. */
@Injectable()
export class LiveExchanges {
  private readonly live = new Set<Exchange>();
  private isDraining = false;

  constructor(private readonly readers: ReaderWatch) {}

  /** Follows the exchange to the end of its connection. */
  add(exchange: Exchange): void {
    const { response } = exchange.call;
    this.live.add(exchange);
    response.once('close', () => {
      this.live.delete(exchange);
      exchange.clientLeft();
    });
    this.readers.watch(response, () => exchange.hangUpOnSlowReader());
  }

  get count(): number {
    return this.live.size;
  }

  get isClosing(): boolean {
    return this.isDraining;
  }

  /** No new requests from now on; those under way go on. */
  drain(): void {
    this.isDraining = true;
  }

  /** Ends these requests, or all, with what they have got so far. Returns how many. */
  abort(names: readonly string[] | undefined): number {
    const meant = [...this.live].filter(
      (exchange) => names === undefined || names.some((name) => exchange.isNamed(name)),
    );
    for (const exchange of meant) exchange.abort();
    return meant.length;
  }

  /** Resolves when all that is under way now has ended. */
  async settled(): Promise<void> {
    const before = [...this.live];
    while (before.some((exchange) => this.live.has(exchange))) await delay(SETTLED_CHECK_MS);
  }

  /** Ends what is still under way. */
  endAll(): void {
    for (const exchange of this.live) exchange.fail(new BatonError('shutting_down'));
  }
}
