import type { EngineGauges } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { TargetSide } from '../decode/target-side';
import { SourceSide } from '../prefill/source-side';
import { EngineSlot } from '../run/engine/engine-slot';
import { DriverOptions } from '../run/options';
import { Run, RunTable } from '../run/runs/run';
import { StepPace } from '../run/steps/step-pace';
import { Broker, HostOptions } from '../run/tokens';
import { ConservationAudit } from './conservation-audit';
import { Operations } from './operations';

/** Reads the gauges of the engine at an instant. */
@Injectable()
export class GaugeReader {
  constructor(
    private readonly options: HostOptions,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly pace: StepPace,
    private readonly transport: Broker,
    private readonly source: SourceSide,
    private readonly target: TargetSide,
    private readonly operations: Operations,
    private readonly audit: ConservationAudit,
  ) {}

  /** @param isUpstreamUp whether the server of an executing engine is up */
  read(isUpstreamUp?: boolean): EngineGauges {
    const { options, slot, runs, pace, transport, source, target, operations, audit } = this;
    const now = slot.engine.snapshot();
    return {
      running: now.running,
      waitingCapacity: now.waiting,
      waitingDeferred: now.deferred,
      kvUsage: now.kvUsage,
      heldBlocks: now.heldBlocks,
      numBlocks: options.facts.numBlocks,
      ...(options.fetchesCache === true && { cachedBlocks: slot.engine.cachedBlocks }),
      clockLagMs: pace.p99LagUs() / 1_000,
      latenessMs: Math.round(transport.processClock.latenessMs()),
      handoffs: { ...source.handoffs(), ...target.handoffs() },
      fetchedWaiting: runs.all().filter((run) => run.hasFetched && !run.isScheduled).length,
      sleepLevel: operations.sleepLevel,
      lostBlocks: audit.lostBlocks(),
      ...(isUpstreamUp === undefined ? {} : { upstreamUp: isUpstreamUp ? 1 : 0 }),
      ...farthestOutside(options),
      ...adaptersIn(runs.all()),
      stepMs: pace.stepUs / 1_000,
    };
  }
}

function farthestOutside({
  stepTimes,
}: Pick<DriverOptions, 'stepTimes'>): Pick<EngineGauges, 'farthestOutside'> {
  if (stepTimes?.outside === undefined) return {};
  return { farthestOutside: stepTimes.outside().farthest };
}

/**
 * vLLM distinguishes LoRA adapters with a sequence in a batch from those whose sequences all wait.
 */
export function adaptersIn(runs: readonly Run[]): Pick<EngineGauges, 'adapters'> {
  const named = runs.filter(({ job }) => job.adapter !== undefined);
  if (named.length === 0) return {};
  const names = (some: readonly Run[]): string[] =>
    [...new Set(some.flatMap(({ job }) => job.adapter ?? []))].sort();
  const running = names(named.filter(({ isScheduled }) => isScheduled));
  const waiting = names(named).filter((name) => !running.includes(name));
  return { adapters: { running, waiting } };
}
