import type { EnginePresence } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { EngineCensus } from '../../observers/metrics/engine-census';
import { FaultMetrics } from '../../observers/metrics/fault-metrics';
import { HttpMetrics } from '../../observers/metrics/http-metrics';
import { LoopMetrics } from '../../observers/metrics/loop-metrics';
import { PlacementMetrics } from '../../observers/metrics/placement-metrics';
import { ProcessMetrics } from '../../observers/metrics/process-metrics';
import { QueueMetrics } from '../../observers/metrics/queue-metrics';
import { RequestMetrics } from '../../observers/metrics/request-metrics';
import { ClassFamilies } from './class-families';

/** The metrics that this process counts itself. */
@Injectable()
export class FrontFamilies {
  constructor(
    private readonly requests: RequestMetrics,
    private readonly placement: PlacementMetrics,
    private readonly faults: FaultMetrics,
    private readonly classes: ClassFamilies,
    private readonly queues: QueueMetrics,
    private readonly census: EngineCensus,
    private readonly http: HttpMetrics,
    private readonly loop: LoopMetrics,
    private readonly process: ProcessMetrics,
  ) {}

  renderRequests(engines: readonly EnginePresence[]): string[] {
    return [
      this.requests.render(engines),
      this.placement.render(engines),
      this.faults.render(),
      ...this.classes.render(),
    ];
  }

  /**
   * The queues of the whole cluster, from the broker; the last known values while it is
   * unavailable.
   */
  async renderQueues(engines: readonly EnginePresence[]): Promise<string[]> {
    await this.queues.refresh(engines).catch(() => undefined);
    return [this.queues.render(), this.census.render()];
  }

  renderProcess(): string[] {
    return [this.http.render(), this.loop.render(), this.process.render()];
  }
}
