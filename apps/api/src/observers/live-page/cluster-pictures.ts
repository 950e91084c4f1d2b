import type { BatonConfig } from '@baton/config';
import {
  type ClusterPicture,
  type EnginePresence,
  type PictureEngine,
  type RequestName,
  type Stage,
  STAGES,
} from '@baton/contract';
import { Inject, Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import { CONFIG } from '../../tokens';
import type { ObservedSequence } from '../port/port';
import { type LiveSequence, LiveSequences, WaitingTotals } from '../port/state';
import { Timelines } from '../timelines/timelines';
import { RateMeter } from './rate-meter';
import { pictureStepTimes } from './step-times';

/** Requests that one picture shows; the others are only counted. */
const MOST_REQUESTS = 4_096;

const [QUEUE, PREFILL, TRANSFER, DECODE] = [0, 1, 2, 3] as const;

/**
 * Where a request is in the cluster, according to this front: an index in `PICTURE_PHASES`.
 *
 * @param stage of the engine that has the request: the last one that sent news, else the one that
 * took it
 */
export function picturePhaseOf(
  { waitingIn, received }: Pick<LiveSequence, 'waitingIn' | 'received'>,
  stage: Stage | undefined,
): 0 | 1 | 2 | 3 {
  if (waitingIn === 'decode') return TRANSFER;
  // News of a step comes at its end, so a prompt in computation counts as waiting until then.
  if (waitingIn !== undefined) return stage === undefined ? QUEUE : PREFILL;
  return received > 0 || stage === 'decode' ? DECODE : PREFILL;
}

/**
 * Takes pictures of the cluster for the live page from the state of this process; no request is
 * sent for them.
 */
@Injectable()
export class ClusterPictures {
  /** Names of the requests under way in the last picture. */
  private named = new Map<number, RequestName>();

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly cluster: ClusterView,
    private readonly sequences: LiveSequences,
    private readonly totals: WaitingTotals,
    private readonly meter: RateMeter,
    private readonly timelines: Timelines,
  ) {}

  /** The names of the requests in the last picture. */
  names(): RequestName[] {
    return [...this.named.values()];
  }

  /** Drops all state; called when the last live page is closed. */
  forget(): void {
    this.named.clear();
  }

  take(nowMs: number): ClusterPicture {
    const living = this.cluster.living();
    const places = new Map(
      living.map(({ engineId, stage }, place) => [engineId, { place, stage }]),
    );
    const phases = [0, 0, 0, 0];
    const requests: number[] = [];
    const names: RequestName[] = [];
    const named = new Map<number, RequestName>();
    for (const sequence of this.sequences) {
      const engineId = sequence.engineId ?? this.timelines.takenBy(sequence) ?? '';
      const { place = -1, stage } = places.get(engineId) ?? {};
      const phase = picturePhaseOf(sequence, stage);
      phases[phase]! += 1;
      if (named.size >= MOST_REQUESTS) continue;
      const { streamId } = sequence;
      requests.push(streamId, phase, phase === QUEUE ? -1 : place, sequence.received);
      const known = this.named.get(streamId);
      const name = known ?? nameOf(sequence);
      if (known === undefined) names.push(name);
      named.set(streamId, name);
    }
    this.named = named;
    const waiting = this.totals.waiting;
    return {
      at: Math.round(performance.timeOrigin + nowMs),
      engines: living.map((engine) => engineOf(engine, this.config.starvedAfter * 1_000)),
      phases,
      waiting: Object.fromEntries(STAGES.map((stage) => [stage, waiting[stage]])) as Record<
        Stage,
        number
      >,
      requests,
      names,
      rates: this.meter.take(nowMs),
      stepTimes: pictureStepTimes(living),
    };
  }
}

function nameOf({ streamId, job }: ObservedSequence): RequestName {
  return [streamId, job.requestId, job.promptTokens, job.maxTokens];
}

function engineOf(engine: EnginePresence, starvedAfterMs: number): PictureEngine {
  const { engineId, index, stage, state, loading, gauges, counters } = engine;
  const { latenessMs = 0 } = gauges;
  return {
    ...{ id: engineId, index, role: stage, state },
    ...(loading !== undefined && { loading }),
    running: gauges.running,
    waiting: gauges.waitingCapacity + gauges.waitingDeferred,
    fetching: gauges.waitingDeferred,
    kvUsage: Math.round(gauges.kvUsage * 1e4) / 1e4,
    heldBlocks: gauges.heldBlocks,
    numBlocks: gauges.numBlocks,
    stepMs: Math.round(gauges.stepMs * 1e3) / 1e3,
    steps: counters['steps'] ?? 0,
    ...(latenessMs > starvedAfterMs ? { starvedMs: latenessMs } : {}),
  };
}
