import type { WallClock } from '@baton/clock';
import type { EngineJob } from '@baton/contract';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { KvEvent, KvEventPublisher } from './kv-event';

/** The location of a block's tokens. */
interface Place {
  readonly tokens: readonly number[];
  readonly from: number;
  /** Jobs in hand that have the block. */
  jobs: number;
}

export interface KvEventsOptions {
  readonly blockSize: number;
  readonly wall: WallClock;
  /** Makes the publisher once the engine has its number. */
  readonly publisher: (engine: number) => KvEventPublisher;
}

/**
 * Turns the changes of an engine's prefix cache into batches of KV-cache events: one per turn of
 * the event loop, as vLLM has one per step. It keeps the tokens of the engine's jobs, because a
 * cache has only hashes.
 */
export class KvEvents implements OnApplicationShutdown {
  private events: KvEvent[] = [];
  private publisher: KvEventPublisher | undefined;
  private readonly inHand = new Set<EngineJob>();
  private readonly places = new Map<number, Place>();

  constructor(private readonly options: KvEventsOptions) {}

  /** Rejects when an endpoint is taken. */
  async open(engine: number): Promise<void> {
    const publisher = this.options.publisher(engine);
    await publisher.open();
    this.publisher = publisher;
  }

  /** Another engine may take the endpoints afterwards. */
  async onApplicationShutdown(): Promise<void> {
    this.flush();
    await this.publisher?.close();
    this.publisher = undefined;
  }

  /** Adds a job that the engine has from now on. */
  addJob(job: EngineJob): void {
    const { blockSize } = this.options;
    const { blockHashes, tokenIds = [] } = job;
    if (this.inHand.has(job)) return;
    this.inHand.add(job);
    for (const [i, hash] of blockHashes.entries()) {
      const known = this.places.get(hash);
      if (known) known.jobs += 1;
      else this.places.set(hash, { tokens: tokenIds, from: i * blockSize, jobs: 1 });
    }
  }

  /** Removes a job; an unknown one changes nothing. */
  forget(job: EngineJob): void {
    if (!this.inHand.delete(job)) return;
    for (const hash of job.blockHashes) {
      const place = this.places.get(hash);
      if (place === undefined) continue;
      place.jobs -= 1;
      if (place.jobs === 0) this.places.delete(hash);
    }
  }

  stored(hash: number, parent: number): void {
    const tokens = this.tokensOf(hash);
    const last = this.events.at(-1);
    if (last?.kind === 'stored' && last.hashes.at(-1) === parent) {
      last.hashes.push(hash);
      last.tokens.push(...tokens);
      return;
    }
    this.add({ kind: 'stored', hashes: [hash], parent: parent === 0 ? null : parent, tokens });
  }

  removed(hash: number): void {
    const last = this.events.at(-1);
    if (last?.kind === 'removed') last.hashes.push(hash);
    else this.add({ kind: 'removed', hashes: [hash] });
  }

  cleared(): void {
    this.add({ kind: 'cleared' });
  }

  private add(event: KvEvent): void {
    if (this.events.length === 0) this.options.wall.soon(() => this.flush());
    this.events.push(event);
  }

  private flush(): void {
    const { events } = this;
    this.events = [];
    if (events.length > 0) this.publisher?.publish(events);
  }

  private tokensOf(hash: number): number[] {
    const place = this.places.get(hash);
    return place ? place.tokens.slice(place.from, place.from + this.options.blockSize) : [];
  }
}
