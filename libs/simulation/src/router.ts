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
import type { VirtualEngine } from './virtual-engine';

export interface RouterParts {
  readonly engines: readonly VirtualEngine[];
  readonly enter: (row: number, engine: VirtualEngine, nowUs: Micros) => void;
  /** Age of the row. */
  readonly ageUs: (row: number, nowUs: Micros) => Micros;
  readonly policyWatch?: RunObserver['policyWatch'];
  readonly onShadow?: RunObserver['onShadow'];
}

/** No engine was chosen on arrival: the choice is made at the hand-over. */
const AT_HAND_OVER = -1;

/**
 * Chooses the route of each row: two engines or one, and which; refuses rows that no engine on
 * their route can ever serve.
 */
export class Router {
  readonly stages: Readonly<Record<EngineRole, VirtualStage>>;
  private readonly placer: Placer;
  /** Whether a policy chooses; with `pull` everywhere no engine needs a description. */
  private readonly choosesOnArrival: boolean;
  private readonly choosesAtHandoff: boolean;
  private readonly choosesAggregated: boolean;
  private readonly admissionOf: ((context: AdmissionContext) => AdmissionPolicy) | undefined;
  /** Rows that one engine serves completely. */
  private readonly isWhole: Uint8Array;
  /** For each row, the index of the decode engine that was chosen on arrival. */
  private readonly decodeEngine: Int16Array;

  constructor(
    private readonly scenario: ClusterScenario,
    private readonly parts: RouterParts,
  ) {
    const { workload, placement, seed, admission } = scenario;
    this.isWhole = new Uint8Array(workload.count);
    this.decodeEngine = new Int16Array(workload.count).fill(AT_HAND_OVER);
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

  /** Places a row, or returns the reason why it cannot. */
  place(row: number, nowUs: Micros): 'rejected' | 'refused' | 'failed' | undefined {
    const way = this.recordedWay(row) ?? this.wayOf();
    if (way === 'none') return 'failed';
    const isWhole = way === 'aggregated';
    if (!this.fits(row, isWhole)) return 'refused';
    const first = isWhole ? this.stages.aggregated : this.stages.prefill;
    if (!this.admits(row, first, nowUs)) return 'rejected';
    if (isWhole) this.placeWhole(row, nowUs);
    else this.placeSplit(row, nowUs);
    return undefined;
  }

  /** Places a prompt that must be computed, for the first time or again. */
  placePrompt(row: number, nowUs: Micros): void {
    if (this.isWhole[row] === 1) this.placeWhole(row, nowUs);
    else this.placeSplit(row, nowUs);
  }

  /** Places the decode of a held prompt. */
  placeDecode(row: number, nowUs: Micros): void {
    const { decode } = this.stages;
    const chosen = this.decodeEngine[row]!;
    if (chosen !== AT_HAND_OVER && this.parts.engines[chosen]!.isReady) {
      decode.direct(row, this.parts.engines[chosen]!, nowUs);
      return;
    }
    decode.forget(row);
    if (this.choosesAtHandoff && decode.engines.length > 0) {
      const choice = this.placer.atHandoff(decode.contextFor(row, nowUs));
      this.send(row, { stage: decode, choice }, nowUs);
    } else decode.share(row, nowUs);
  }

  /** The row has ended, and comes to no engine any more. */
  endRequest(row: number): void {
    this.stages.decode.forget(row);
  }

  modeOf(row: number, { pool }: VirtualEngine): SequenceSpec['mode'] {
    if (this.isWhole[row] === 1) return 'generate';
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
    const waitedUs = this.parts.ageUs(row, nowUs);
    return { waitedUs, ttftTargetUs: sloClasses?.of(row).ttftUs };
  }

  private placeWhole(row: number, nowUs: Micros): void {
    const { aggregated } = this.stages;
    this.isWhole[row] = 1;
    const recorded = this.scenario.recordedPlacement?.aggregated[row] ?? -1;
    if (recorded >= 0) {
      this.shadow(row, { stage: aggregated, recorded }, nowUs);
      aggregated.direct(row, aggregated.engines[recorded]!, nowUs);
    } else if (!this.choosesAggregated || aggregated.engines.length === 0)
      aggregated.share(row, nowUs);
    else {
      const choice = this.placer.onAggregated(aggregated.contextFor(row, nowUs));
      this.send(row, { stage: aggregated, choice }, nowUs);
    }
  }

  private placeSplit(row: number, nowUs: Micros): void {
    const { prefill, decode } = this.stages;
    const { recordedPlacement } = this.scenario;
    const recorded = recordedPlacement && recordedChoice(recordedPlacement, row);
    if (recorded !== undefined) {
      if (recorded.kind !== 'local') {
        this.shadow(row, { stage: prefill, recorded: recorded.prefill }, nowUs);
      }
      this.follow(row, recorded, nowUs);
      return;
    }
    const isOpen = prefill.engines.length > 0 && decode.engines.length > 0;
    if (!this.choosesOnArrival || !isOpen) {
      prefill.share(row, nowUs);
      return;
    }
    const choice = this.placer.atArrival(
      prefill.contextFor(row, nowUs),
      decode.contextFor(row, nowUs),
    );
    this.follow(row, choice, nowUs);
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

  private follow(row: number, { kind, prefill, decode }: ArrivalChoice, nowUs: Micros): void {
    if (kind === 'local') {
      this.isWhole[row] = 1;
      this.send(row, { stage: this.stages.decode, choice: decode }, nowUs);
      return;
    }
    const chosen = decode === SHARED_QUEUE ? undefined : this.stages.decode.engines[decode]!;
    this.decodeEngine[row] = chosen?.index ?? AT_HAND_OVER;
    if (chosen !== undefined) this.stages.decode.expect(row, chosen);
    this.send(row, { stage: this.stages.prefill, choice: prefill }, nowUs);
  }

  private send(row: number, to: { stage: VirtualStage; choice: number }, nowUs: Micros): void {
    const { stage, choice } = to;
    if (choice === SHARED_QUEUE) stage.share(row, nowUs);
    else stage.direct(row, stage.engines[choice]!, nowUs);
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
      enter: (row, engine, nowUs) => this.parts.enter(row, engine, nowUs),
      onStranded: (row, nowUs) => {
        if (role === 'decode' && this.isWhole[row] === 0) this.placeDecode(row, nowUs);
        else this.placePrompt(row, nowUs);
      },
    });
  }
}
