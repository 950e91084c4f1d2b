import type { EnginePresence } from '@baton/contract';
import { mergePages } from '@baton/telemetry';
import { Controller, Get, Header, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ClusterView } from '../../cluster/cluster-view';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { ApiProcesses } from '../../processes/api-processes';
import { EngineFamilies } from './engine-families';
import { FrontFamilies } from './front-families';
import { SharedWork } from './shared-work';

/** One scrape shows the whole cluster; at an engine's own port it shows that engine alone. */
@Controller('metrics')
export class MetricsController {
  /** Pages under way, by the engine at whose port they were requested. */
  private readonly pages = new SharedWork((engineId: string | undefined) => this.page(engineId));

  constructor(
    private readonly cluster: ClusterView,
    private readonly ofEngines: EngineFamilies,
    private readonly ofFront: FrontFamilies,
    private readonly apiProcesses: ApiProcesses,
  ) {
    apiProcesses.answer('metrics', (engineId) =>
      this.ownPage(this.enginesAt(typeof engineId === 'string' ? engineId : undefined)),
    );
  }

  @Describe('Health and metrics', 'Show the metrics of the cluster for Prometheus', {
    answers: ['text'],
  })
  @Get()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  scrape(@Req() { raw }: FastifyRequest): Promise<string> {
    return this.pages.resultFor(contextOf(raw).engineId);
  }

  private async page(engineId: string | undefined): Promise<string> {
    // The last known state is shown while the broker is unavailable.
    await this.cluster.refresh().catch(() => undefined);
    const at = this.enginesAt(engineId);
    await this.ofFront.refreshQueues(at.engines);
    const ofEngines = this.ofEngines.render(this.ofFront.withQueued(at.engines, at.living));
    const own = this.ownPage(at);
    const others = await this.apiProcesses.query('metrics', engineId ?? null, own);
    const ofFront = mergePages([own, ...others.map(String)]);
    return this.ofEngines.withServers(joined([ofEngines, ofFront]), at.engines);
  }

  private enginesAt(engineId: string | undefined): EnginesAt {
    const living = this.cluster.living();
    const engines = living.filter(
      (engine) => engineId === undefined || engine.engineId === engineId,
    );
    return { living, engines, isWhole: engineId === undefined };
  }

  /** The counts of this process. */
  private ownPage({ engines, isWhole }: EnginesAt): string {
    return joined([
      ...this.ofFront.renderRequests(engines),
      this.ofEngines.renderLoras(engines),
      ...(isWhole ? this.ofFront.renderQueues(engines) : []),
      ...this.ofFront.renderProcess(),
    ]);
  }
}

interface EnginesAt {
  readonly living: readonly EnginePresence[];
  /** The engines of the port: all of them, or the one whose port it is. */
  readonly engines: readonly EnginePresence[];
  readonly isWhole: boolean;
}

function joined(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .map((part) => `${part.trimEnd()}\n`)
    .join('');
}
