import {
  type ClusterPicture,
  type EnginePresence,
  type PictureEngine,
  type RequestName,
  type Stage,
  STAGES,
} from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import { Config } from '../../tokens';
import type { ObservedSequence } from '../port/port';
import { type LiveSequence, LiveSequences, WaitingTotals } from '../port/state';
import { ApiProcesses } from '../../processes/api-processes';
import { Timelines } from '../timelines/timelines';
import { RateMeter } from './rate-meter';
import { type RateFacts, pictureRatesOf } from './rates';
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

/** The part of one API process in a picture: plain values that other processes can send. */
export interface PicturePart {
  /** Requests by phase, including those not shown. */
  readonly phases: readonly number[];
  /** At most as many as a picture shows. */
  readonly requests: readonly PictureRequest[];
  /** Key and tokens of each request that has ended since the last part, in one list. */
  readonly ended: readonly number[];
  readonly rates: RateFacts;
}

type PictureRequest = readonly [
  name: RequestName,
  phase: number,
  engineId: string,
  received: number,
];

/**
 * Takes pictures of the cluster for the live page, from the state of this process and from the
 * parts that the other API processes send.
 */
@Injectable()
export class ClusterPictures {
  /** Names of the requests under way in the last picture. */
  private named = new Map<number, RequestName>();
  /** The requests of this process in its last part. */
  private shown = new Map<number, LiveSequence>();

  constructor(
    private readonly config: Config,
    private readonly cluster: ClusterView,
    private readonly sequences: LiveSequences,
    private readonly totals: WaitingTotals,
    private readonly meter: RateMeter,
    private readonly timelines: Timelines,
    private readonly apiProcesses: ApiProcesses,
  ) {}

  /** The names of the requests in the last picture. */
  names(): RequestName[] {
    return [...this.named.values()];
  }

  /** Drops all state; called when the last live page is closed. */
  forget(): void {
    this.named.clear();
    this.shown.clear();
  }

  /** The part of this process. */
  part(nowMs: number): PicturePart {
    const stages = new Map(this.cluster.living().map(({ engineId, stage }) => [engineId, stage]));
    const phases = [0, 0, 0, 0];
    const requests: PictureRequest[] = [];
    const shown = new Map<number, LiveSequence>();
    for (const sequence of this.sequences) {
      const engineId = sequence.engineId ?? this.timelines.takenBy(sequence) ?? '';
      const phase = picturePhaseOf(sequence, stages.get(engineId));
      phases[phase]! += 1;
      if (requests.length >= MOST_REQUESTS) continue;
      const name = this.nameOf(sequence);
      requests.push([name, phase, engineId, sequence.received]);
      shown.set(name[0], sequence);
    }
    const ended = [...this.shown].flatMap(([key, { received }]) =>
      shown.has(key) ? [] : [key, received],
    );
    this.shown = shown;
    return { phases, requests, ended, rates: this.meter.take(nowMs) };
  }

  /** A picture of the cluster. @param others the parts of the other API processes */
  take(nowMs: number, others: readonly PicturePart[] = []): ClusterPicture {
    const living = this.cluster.living();
    const parts = [this.part(nowMs), ...others];
    const waiting = this.totals.waiting;
    return {
      at: Math.round(performance.timeOrigin + nowMs),
      engines: living.map((engine) => engineOf(engine, this.config.starvedAfter * 1_000)),
      phases: sumOfPhases(parts),
      waiting: Object.fromEntries(STAGES.map((stage) => [stage, waiting[stage]])) as Record<
        Stage,
        number
      >,
      ...this.show(parts, living),
      ended: parts.flatMap((part) => part.ended),
      rates: pictureRatesOf(parts.map(({ rates }) => rates)),
      stepTimes: pictureStepTimes(living),
    };
  }

  /** The requests of all parts, and the names of those that no earlier picture has shown. */
  private show(
    parts: readonly PicturePart[],
    living: readonly EnginePresence[],
  ): Pick<ClusterPicture, 'requests' | 'names'> {
    const places = new Map(living.map(({ engineId }, place) => [engineId, place]));
    const requests: number[] = [];
    const names: RequestName[] = [];
    const named = new Map<number, RequestName>();
    for (const [name, phase, engineId, received] of parts.flatMap((part) => part.requests)) {
      if (named.size >= MOST_REQUESTS) break;
      const [key] = name;
      const place = phase === QUEUE ? undefined : places.get(engineId);
      requests.push(key, phase, place ?? -1, received);
      if (!this.named.has(key)) names.push(name);
      named.set(key, name);
    }
    this.named = named;
    return { requests, names };
  }

  /** Stream ids are unique in their process, the keys of pictures in all of a port. */
  private nameOf({ streamId, job }: ObservedSequence): RequestName {
    const { count, place } = this.apiProcesses;
    const key = streamId * count + place;
    return this.named.get(key) ?? [key, job.requestId, job.promptTokens, job.maxTokens];
  }
}

function sumOfPhases(parts: readonly PicturePart[]): number[] {
  return [QUEUE, PREFILL, TRANSFER, DECODE].map((phase) =>
    parts.reduce((sum, { phases }) => sum + (phases[phase] ?? 0), 0),
  );
}

function engineOf(engine: EnginePresence, starvedAfterMs: number): PictureEngine {
  const { engineId, name, stage, state, loading, gauges, counters } = engine;
  const { latenessMs = 0 } = gauges;
  return {
    id: engineId,
    name,
    role: stage,
    state,
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
