import type { EngineGauges } from '@baton/contract';
import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { Run, RunTable } from '../../live-engine/runs/run';
import type { Transport } from '@baton/transport';
import type { SourceSide } from '../handoff/source-side';
import type { TargetSide } from '../handoff/target-side';
import type { DriverOptions } from '../options';
import type { StepPace } from '../steps/step-frames';
import type { ConservationAudit } from './conservation-audit';
import type { Operations } from './operations';

export interface EngineGaugesParts {
  readonly options: Pick<DriverOptions, 'facts' | 'stepTimes' | 'fetchesCache'>;
  readonly slot: EngineSlot;
  readonly runs: RunTable;
  readonly pace: StepPace;
  readonly transport: Pick<Transport, 'processClock'>;
  readonly source: SourceSide;
  readonly target: TargetSide;
  readonly operations: Operations;
  readonly audit: ConservationAudit;
}

/** The gauges of the engine at this instant. */
export function engineGauges(parts: EngineGaugesParts, isUpstreamUp?: boolean): EngineGauges {
  const { options, slot, runs, pace, transport, source, target, operations, audit } = parts;
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
