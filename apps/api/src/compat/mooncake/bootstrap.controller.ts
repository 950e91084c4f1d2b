import { BatonError } from '@baton/contract';
import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ClusterView } from '../../cluster/cluster-view';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';

/**
 * The engine ids behind a port, by data-parallel rank. Mooncake's proxy reads them from a prefill
 * instance.
 */
@Controller()
export class BootstrapController {
  constructor(private readonly cluster: ClusterView) {}

  @Describe(
    'Health and metrics',
    "List the engines behind an engine's port, for Mooncake's bootstrap",
    { refuses: [404] },
  )
  @Get('query')
  query(@Req() request: FastifyRequest): Readonly<Record<string, object>> {
    const { engineId } = contextOf(request.raw);
    const engine = engineId === undefined ? undefined : this.cluster.find(engineId);
    if (engine === undefined) throw new BatonError('not_found');
    const { size = 1 } = engine.dataParallel ?? {};
    const ids = Array.from({ length: size }, (_, rank) =>
      size === 1 ? engine.engineId : this.cluster.rankOf(engine.engineId, rank),
    );
    return Object.fromEntries(
      ids.map((id, rank) => [rank, { engine_id: id ?? engine.engineId, worker_addr: {} }]),
    );
  }
}
