import type { RequestLog } from '@baton/analysis';
import type { SequenceSpec } from '@baton/engine';
import { type Micros, RandomStream } from '@baton/kernel';
import {
  type AdmissionContext,
  type AdmissionPolicy,
  type ArrivalChoice,
  buildAdmission,
  chooseRoute,
  type EngineRole,
  estimateTtftUs,
  hasQueueRoom,
  Placer,
  PrefixDirectory,
  SHARED_QUEUE,
} from '@baton/policies';
import { recordedChoice } from './recorded-placement';
import type { ClusterScenario, RunObserver } from './scenario';
import { type RowPromise, VirtualStage } from './stage';
import { NONE, type Trips } from './trips';
import type { VirtualEngine } from './virtual-engine';

export interface RouterParts {
  readonly engines: readonly VirtualEngine[];
  readonly log: RequestLog;
  readonly trips: Trips;
  readonly policyWatch?: RunObserver['policyWatch'];
  readonly onShadow?: RunObserver['onShadow'];
}

/** Where a row goes: to one engine of a stage, or, without an engine, to its shared queue. */
export interface Place {
  readonly stage: VirtualStage;
  readonly engine: VirtualEngine | undefined;
}

/**
 * Chooses the route of each row: two engines or one, and which; refuses rows that no engine on
 * their route can ever serve. The caller takes the row to the place that it returns.
 */
export class Router {
  readonly stages: Readonly<Record<EngineRole, VirtualStage>>;
  private readonly placer: Placer;
  /** Whether a policy chooses; with `pull` everywhere no engine needs a description. */
  private readonly choosesOnArrival: boolean;
  private readonly choosesAtHandoff: boolean;
  private readonly choosesAggregated: boolean;
  private readonly admissionOf: ((context: AdmissionContext) => AdmissionPolicy) | undefined;

  constructor(
    private readonly scenario: ClusterScenario,
    private readonly parts: RouterParts,
  ) {
    const { placement, seed, admission } = scenario;
    const { policyWatch: watch } = parts;
    const random = RandomStream.root(seed).stream('placement');
    this.placer = new Placer(placement, random, watch);
    this.admissionOf =
      admission && buildAdmission(admission, RandomStream.root(seed).stream('admission'), watch);
    const isPullPrefill = placement.prefill === 'pull';
    const isPullDecode = placement.decode === 'pull';
    this.choosesAggregated = !isPullPrefill;
    this.choosesAtHandoff = !isPullDecode;
    this.choosesOnArrival =
      !isPullPrefill ||
      placement.disaggregationThreshold > 0 ||
      (!isPullDecode && placement.decodeChoice === 'early');
    this.stages = {
      prefill: this.newStage('prefill'),
      decode: this.newStage('decode'),
      aggregated: this.newStage('aggregated'),
    };
  }

  /** The place of a new row, or the reason why it has none. */
  place(row: number, nowUs: Micros): Place | 'rejected' | 'refused' | 'failed' {
    const way = this.recordedWay(row) ?? this.wayOf();
    if (way === 'none') return 'failed';
    const isWhole = way === 'aggregated';
    if (!this.fits(row, isWhole)) return 'refused';
    const first = isWhole ? this.stages.aggregated : this.stages.prefill;
    if (!this.admits(row, first, nowUs)) return 'rejected';
    return isWhole ? this.placeWhole(row, nowUs) : this.placeSplit(row, nowUs);
  }

  /** The place of a row whose prompt must be computed again, or whose engine leaves. */
  placeAgain(row: number, nowUs: Micros): Place {
    const isWhole = this.parts.trips.isWhole[row] === 1;
    return isWhole ? this.placeWhole(row, nowUs) : this.placeSplit(row, nowUs);
  }

  /** The place of a held prompt on decode. */
  placeDecode(row: number, nowUs: Micros): Place {
    const { decode } = this.stages;
    const { engines, trips } = this.parts;
    const expectedAt = trips.expectedAt(row);
    if (expectedAt !== NONE && engines[expectedAt]!.isReady) {
      return { stage: decode, engine: engines[expectedAt] };
    }
    decode.forget(row);
    if (!this.choosesAtHandoff || decode.engines.length === 0) return sharedBy(decode);
    return placeIn(decode, this.placer.atHandoff(decode.contextFor(row, nowUs)));
  }

  /** The row has ended, and comes to no engine any more. */
  endRequest(row: number): void {
    this.stages.decode.forget(row);
  }

  modeOf(row: number, { pool }: VirtualEngine): SequenceSpec['mode'] {
    if (this.parts.trips.isWhole[row] === 1) return 'generate';
    return pool.role === 'prefill' ? 'prefill-and-hold' : 'remote-prefill';
  }

  private recordedWay(row: number): 'disaggregated' | 'aggregated' | undefined {
    const { recordedPlacement } = this.scenario;
    if (recordedPlacement === undefined) return undefined;
    if (recordedPlacement.aggregated[row]! >= 0) return 'aggregated';
    return recordedPlacement.decode[row]! >= 0 ? 'disaggregated' : undefined;
  }

  private wayOf(): 'disaggregated' | 'aggregated' | 'none' {
    const { prefill, decode, aggregated } = this.stages;
    if (aggregated.engines.length === 0 && prefill.engines.length * decode.engines.length > 0) {
      return 'disaggregated';
    }
    return chooseRoute({
      prefill: { readyEngines: prefill.engines.length, waiting: prefill.waiting },
      decode: { readyEngines: decode.engines.length, waiting: decode.waiting },
      aggregated: { readyEngines: aggregated.engines.length, waiting: aggregated.waiting },
    }).kind;
  }

  private admits(row: number, stage: VirtualStage, nowUs: Micros): boolean {
    if (!hasQueueRoom(stage.waiting, this.scenario.maxWaitingRequests)) return false;
    if (this.admissionOf === undefined) return true;
    const context = stage.admissionFor(row, nowUs, this.promiseTo(row, nowUs));
    return this.admissionOf(context).admit(context);
  }

  /** Undefined when rows have no classes. */
  private promiseTo(row: number, nowUs: Micros): RowPromise | undefined {
    const { sloClasses, flowControl } = this.scenario;
    if (sloClasses === undefined && flowControl === undefined) return undefined;
    const waitedUs = nowUs - this.parts.log.arrivalUs.at(row);
    return { waitedUs, ttftTargetUs: sloClasses?.of(row).ttftUs };
  }

  private placeWhole(row: number, nowUs: Micros): Place {
    const { aggregated } = this.stages;
    this.parts.trips.isWhole[row] = 1;
    const recorded = this.scenario.recordedPlacement?.aggregated[row] ?? -1;
    if (recorded >= 0) {
      this.shadow(row, { stage: aggregated, recorded }, nowUs);
      return placeIn(aggregated, recorded);
    }
    if (!this.choosesAggregated || aggregated.engines.length === 0) return sharedBy(aggregated);
    return placeIn(aggregated, this.placer.onAggregated(aggregated.contextFor(row, nowUs)));
  }

  private placeSplit(row: number, nowUs: Micros): Place {
    const { prefill, decode } = this.stages;
    const { recordedPlacement } = this.scenario;
    const recorded = recordedPlacement && recordedChoice(recordedPlacement, row);
    if (recorded !== undefined) {
      if (recorded.kind !== 'local') {
        this.shadow(row, { stage: prefill, recorded: recorded.prefill }, nowUs);
      }
      return this.follow(row, recorded);
    }
    const isOpen = prefill.engines.length > 0 && decode.engines.length > 0;
    if (!this.choosesOnArrival || !isOpen) return sharedBy(prefill);
    const choice = this.placer.atArrival(
      prefill.contextFor(row, nowUs),
      decode.contextFor(row, nowUs),
    );
    return this.follow(row, choice);
  }

  /** Asks the policy for its choice without applying it. */
  private shadow(
    row: number,
    { stage, recorded }: { readonly stage: VirtualStage; readonly recorded: number },
    nowUs: Micros,
  ): void {
    const { onShadow } = this.parts;
    if (onShadow === undefined) return;
    const context = stage.contextFor(row, nowUs);
    const { stage: role } = context;
    const own =
      role === 'prefill' ? this.placer.onPrefill(context) : this.placer.onAggregated(context);
    const ttftUs = (engine: number): Micros => estimateTtftUs(context, context.engines[engine]!);
    onShadow({
      row,
      atUs: nowUs,
      role,
      recorded,
      own,
      recordedTtftUs: ttftUs(recorded),
      ownTtftUs: ttftUs(own),
    });
  }

  private follow(row: number, { kind, prefill, decode }: ArrivalChoice): Place {
    const { stages } = this;
    if (kind === 'local') {
      this.parts.trips.isWhole[row] = 1;
      return placeIn(stages.decode, decode);
    }
    const { engine } = placeIn(stages.decode, decode);
    if (engine !== undefined) stages.decode.expect(row, engine);
    return placeIn(stages.prefill, prefill);
  }

  /**
   * Whether every engine of the stages on its route could hold it; the API checks the same before
   * it queues a request.
   */
  private fits(row: number, isWhole: boolean): boolean {
    const { promptTokens, outputTokens } = this.scenario.workload;
    const prompt = promptTokens[row]!;
    const output = outputTokens[row]!;
    for (const { role, options } of this.scenario.pools) {
      if ((role === 'aggregated') !== isWhole) continue;
      const kvTokens = role === 'prefill' ? prompt : prompt + output - 1;
      if (prompt + output > options.maxModelLen) return false;
      if (kvTokens > options.numBlocks * options.blockSize) return false;
    }
    return true;
  }

  private newStage(role: EngineRole): VirtualStage {
    const { placement, workload, pools } = this.scenario;
    const isPull = (role === 'decode' ? placement.decode : placement.prefill) === 'pull';
    const prefixes = isPull ? undefined : new PrefixDirectory(pools[0]!.options.blockSize);
    return new VirtualStage({
      role,
      workload,
      prefixes,
      metricsIntervalUs: placement.metricsIntervalUs,
      kvPool: pools.find((pool) => pool.role === role)?.kvPool,
      cluster: this.parts.engines,
      trips: this.parts.trips,
    });
  }
}

function sharedBy(stage: VirtualStage): Place {
  return { stage, engine: undefined };
}

/** @param choice  of a policy: the number of an engine of the stage, or `SHARED_QUEUE` */
function placeIn(stage: VirtualStage, choice: number): Place {
  return { stage, engine: choice === SHARED_QUEUE ? undefined : stage.engines[choice]! };
}
