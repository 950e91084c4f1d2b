import type { Stage } from '@baton/contract';
import type { EngineHost } from '../driver/host/engine-host';
import type { RankOptions } from '../live-engine/engine/engine-identity';

/**
 * One engine of the topology: a host for each of its data-parallel ranks. They start, drain and
 * leave together.
 */
export class EngineRanks {
  readonly hosts: readonly EngineHost[];

  /** @param newHost  called once per rank; the argument is undefined for an engine of one rank */
  constructor(
    readonly role: Stage,
    size: number,
    newHost: (rank: RankOptions | undefined) => EngineHost,
  ) {
    const hosts: EngineHost[] = [];
    const leader: RankOptions['leader'] = () => hosts[0] as EngineHost;
    for (let rank = 0; rank < size; rank += 1) {
      hosts.push(newHost(size === 1 ? undefined : { rank, size, leader }));
    }
    this.hosts = hosts;
  }

  /** Rank 0 first: the others name their engine by its index. */
  async start(): Promise<void> {
    const [leader, ...others] = this.hosts;
    await leader?.start();
    await Promise.all(others.map((host) => host.start()));
  }

  async stop(timeoutMs: number): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.stop(timeoutMs)));
  }
}
