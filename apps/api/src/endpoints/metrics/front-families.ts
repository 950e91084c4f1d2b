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

  /** Reads the queues of these engines; the last known lengths stay while the broker is away. */
  async refreshQueues(engines: readonly EnginePresence[]): Promise<void> {
    await this.queues.refresh(engines).catch(() => undefined);
  }

  /** Some of the engines, with the jobs in queues among their waiting requests. */
  withQueued(
    engines: readonly EnginePresence[],
    sharing: readonly EnginePresence[],
  ): EnginePresence[] {
    return this.queues.withQueued(engines, sharing);
  }

  renderQueues(engines: readonly EnginePresence[]): string[] {
    return [this.queues.render(engines), this.census.render()];
  }

  renderProcess(): string[] {
    return [this.http.render(), this.loop.render(), this.process.render()];
  }
}
