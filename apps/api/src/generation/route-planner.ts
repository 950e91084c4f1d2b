import { BatonError, type Stage } from '@baton/contract';
import type { GenerationRequest } from '@baton/openai';
import type { Logger } from '@baton/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { ClusterView } from '../cluster/cluster-view';
import { LOGGER } from '../tokens';
import { kvWishOf, ownRoute, type Route, wishedRoute } from './route';

/** Chooses the way of each sequence of a request from what the client asks for and what lives in the cluster. */
@Injectable()
export class RoutePlanner {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly cluster: ClusterView,
  ) {}

  /**
   * One route per sequence. kv_transfer_params concern the first sequence alone: they name one prompt's blocks, and those are read once.
   * Throws `no_engine` when a stage on the way has had no engine for a while.
   */
  plan(request: GenerationRequest, engineId: string | undefined): Route[] {
    const engine = engineId === undefined ? undefined : this.engineAt(engineId);
    const wish = kvWishOf(request.kvTransferParams);
    if (wish.kind === 'unusable') {
      this.logger.warn(
        { params: request.kvTransferParams },
        'invalid kv_transfer_params: the request is served without a transfer',
      );
    }
    const plain = wishedRoute({ kind: 'none' }, engine) ?? this.own();
    const first = wishedRoute(wish, engine) ?? plain;
    this.refuseWithoutEngine(first);
    const sequences = request.prompts.length * request.choices;
    return Array.from({ length: sequences }, (_, index) => (index === 0 ? first : plain));
  }

  private own(): Route {
    const isSplit = this.isServed('prefill') && this.isServed('decode');
    const isMixed = isSplit && this.cluster.isReady('aggregated');
    if (isMixed) return ownRoute(this.lessWaiting());
    return ownRoute(isSplit || !this.isServed('aggregated') ? 'disaggregated' : 'aggregated');
  }

  private lessWaiting(): 'disaggregated' | 'aggregated' {
    return 'disaggregated';
  }

  private engineAt(engineId: string): { engineId: string; stage: Stage } {
    const engine = this.cluster.find(engineId);
    if (!engine) throw new BatonError('no_engine');
    return engine;
  }

  private refuseWithoutEngine(route: Route): void {
    const stages = [route.stage, ...(route.next === undefined ? [] : [route.next])];
    if (!stages.every((stage) => this.isServed(stage))) throw new BatonError('no_engine');
  }

  private isServed(stage: Stage): boolean {
    return this.cluster.isReady(stage) || this.cluster.wasReadyLately(stage);
  }
}
