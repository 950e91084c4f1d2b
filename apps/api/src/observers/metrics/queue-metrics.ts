import { type BatonConfig, placerSpec } from '@baton/config';
import { type EnginePresence, type Stage, STAGES } from '@baton/contract';
import { engineQueue, sharedQueue } from '@baton/routing';
import { renderNumbers } from '@baton/telemetry';
import type { QueueName, Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, TRANSPORT } from '../../tokens';
import { LiveSequences, WaitingTotals } from '../port/state';

type PerStage = Readonly<Record<Stage, number>>;

/** The number and age of requests that wait for each stage: the input of an autoscaler. */
@Injectable()
export class QueueMetrics {
  private depths: PerStage = { prefill: 0, decode: 0, aggregated: 0 };
  /** True when jobs also wait in the engines' own queues. */
  private readonly isPlaced: boolean;

  constructor(
    @Inject(CONFIG) config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    private readonly totals: WaitingTotals,
    private readonly sequences: LiveSequences,
  ) {
    const { prefill, decode } = placerSpec(config);
    this.isPlaced = prefill !== 'pull' || decode !== 'pull' || config.exposeEngines;
  }

  /** Reads the broker; the last known values are shown while it is unavailable. */
  async refresh(engines: readonly EnginePresence[]): Promise<void> {
    const depths = STAGES.map(async (stage) => [stage, await this.depthOf(stage, engines)]);
    const [counted] = await Promise.all([Promise.all(depths), this.totals.refreshTotals()]);
    this.depths = Object.fromEntries(counted) as Record<Stage, number>;
  }

  render(nowMs = performance.now()): string {
    return [
      perStage(
        'baton:queue_depth',
        'Jobs in the queues of a stage that no engine has taken.',
        this.depths,
      ),
      perStage(
        'baton:waiting_sequences',
        'Sequences that have not entered a batch of the stage, in its queues or in an ' +
          'engine, over all API processes.',
        this.totals.waiting,
      ),
      perStage(
        'baton:queue_age_seconds',
        'How long the oldest of these that this API process knows has been waiting.',
        this.ages(nowMs),
      ),
    ].join('');
  }

  private async depthOf(stage: Stage, engines: readonly EnginePresence[]): Promise<number> {
    const here = engines.filter((engine) => engine.stage === stage);
    const ranks = new Set(here.flatMap(({ dataParallel: dp }) => (dp ? [dp.rank] : [])));
    const queues: QueueName[] = [
      stage,
      ...[...ranks].map((rank) => sharedQueue(stage, rank)),
      ...(this.isPlaced ? here.map(({ engineId }) => engineQueue(engineId)) : []),
    ];
    const counts = await Promise.all(queues.map((queue) => this.transport.jobs.waiting(queue)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Ages count from the last event of a sequence, which is the beginning of its wait. */
  private ages(nowMs: number): PerStage {
    const ages = { prefill: 0, decode: 0, aggregated: 0 };
    for (const { waitingIn, heardMs } of this.sequences) {
      if (waitingIn === undefined) continue;
      ages[waitingIn] = Math.max(ages[waitingIn], (nowMs - heardMs) / 1_000);
    }
    return ages;
  }
}

function perStage(name: string, help: string, values: PerStage): string {
  const series = STAGES.map((stage) => ({ labels: { stage }, value: values[stage] }));
  return renderNumbers({ name, help }, 'gauge', series);
}
