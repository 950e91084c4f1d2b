import type { Stage } from '@baton/contract';
import { parseTopology } from '@baton/policies';
import type { BrokerTrouble } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import { AcceptingState } from '../../request/take/accepting-state';
import { Config, Broker } from '../../tokens';

const TROUBLES: Readonly<Record<BrokerTrouble, string>> = {
  full: 'the message broker is out of memory',
  evicting: 'the message broker evicts keys: set its maxmemory-policy to noeviction',
};

/** Lists the parts that are missing before requests can be served. */
@Injectable()
export class Readiness {
  private readonly needed: readonly Stage[];

  constructor(
    config: Config,
    private readonly transport: Broker,
    private readonly cluster: ClusterView,
    private readonly accepting: AcceptingState,
  ) {
    const { prefill, decode, aggregated } = parseTopology(config.topology);
    const counts: readonly [Stage, number][] = [
      ['prefill', prefill],
      ['decode', decode],
      ['aggregated', aggregated],
    ];
    this.needed = counts.filter(([, count]) => count > 0).map(([stage]) => stage);
  }

  /** Descriptions for `/health/ready`; empty when ready. */
  missing(): string[] {
    const missing = this.needed
      .filter((stage) => !this.cluster.isReady(stage))
      .map((stage) => `no ${stage} engine is ready`);
    if (!this.transport.isConnected) missing.unshift('the message broker is not reachable');
    const { trouble } = this.transport;
    if (trouble !== undefined) missing.unshift(TROUBLES[trouble]);
    if (this.accepting.isClosing) missing.unshift('the server is shutting down');
    return missing;
  }

  /** For the whole cluster, or for one engine when the request came in at the engine's own port. */
  isServing(engineId: string | undefined): boolean {
    if (engineId === undefined) return this.missing().length === 0;
    const isUp = this.cluster.find(engineId)?.state === 'ready';
    const { isConnected, trouble } = this.transport;
    return isUp && isConnected && trouble === undefined && !this.accepting.isClosing;
  }
}
