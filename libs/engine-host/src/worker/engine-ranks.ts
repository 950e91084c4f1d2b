import type { Stage } from '@baton/contract';
import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EngineModule, type EngineSite } from '../engine.module';
import { EngineHost } from '../host/engine-host';
import { EngineIdentity, type RankOptions } from '../run/engine/engine-identity';
import type { HostOptions } from '../run/tokens';

/** What makes one rank of an engine. */
export interface RankSetup {
  readonly options: HostOptions;
  readonly site: EngineSite;
}

/** The ranks of one engine, each an `EngineModule`. */
@Module({})
class EngineRanksModule {}

/**
 * One engine of the topology: an application context of Nest with a module for each of its
 * data-parallel ranks. They start, drain and leave together.
 */
export class EngineRanks {
  /** Rank 0 first; empty before the start. */
  hosts: readonly EngineHost[] = [];
  private readonly ranks: readonly DynamicModule[];
  private context: Promise<INestApplicationContext> | undefined;
  private ended: Promise<void> | undefined;

  /**
   * @param size ranks of the engine, >= 1
   * @param setupOf called once per rank; the argument is undefined for an engine of one rank
   */
  constructor(
    readonly role: Stage,
    size: number,
    setupOf: (rank: RankOptions | undefined) => RankSetup,
  ) {
    const identities: EngineIdentity[] = [];
    const leader: RankOptions['leader'] = () => identities[0] as EngineIdentity;
    this.ranks = Array.from({ length: size }, (_none, rank) => {
      const { options, site } = setupOf(size === 1 ? undefined : { rank, size, leader });
      const identity = new EngineIdentity(options);
      identities.push(identity);
      return EngineModule.forEngine(identity, options, site);
    });
  }

  /** Resolves when all ranks are announced, rank 0 first: the others name it by its index. */
  async start(): Promise<void> {
    const root = { module: EngineRanksModule, imports: [...this.ranks] };
    this.context = NestFactory.createApplicationContext(root, {
      logger: false,
      abortOnError: false,
    });
    const context = await this.context;
    this.hosts = context.get(EngineHost, { strict: false, each: true });
  }

  /**
   * Takes no more jobs, waits for running ones for at most `timeoutMs` of wall time, returns the
   * rest to their queue, and leaves the cluster. Of two calls the earlier deadline applies.
   */
  async stop(timeoutMs: number): Promise<void> {
    // An engine that could not be started has told its starter.
    const context = await this.context?.catch(() => undefined);
    const drained = Promise.all(this.hosts.map((host) => host.endWithin(timeoutMs)));
    this.ended ??= drained.then(() => context?.close());
    await this.ended;
  }
}
