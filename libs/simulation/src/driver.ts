import type { LifeEvent, LifeState, RunRecord } from '@baton/analysis';
import type { StepFacts } from '@baton/engine';
import { assert, type Micros, type StartupPhase } from '@baton/kernel';
import { watchedScheduling } from '@baton/policies';
import { Calendar } from './calendar';
import { cachesOf } from './caches/engine-caches';
import { Handoffs } from './handoffs';
import { Journal } from './journal';
import type { LockstepGroup } from './ranks/lockstep-group';
import { Lifecycle } from './lifecycle';
import { VirtualMembership, mostEngines } from './membership';
import type { Replica } from './ranks/replica';
import type { ClusterScenario, RunObserver, StepSpan } from './scenario';
import { VirtualScaling } from './scaling';
import { Telemetry } from './telemetry';
import type { VirtualEngine } from './virtual-engine';

const PROGRESS_EVERY = 1 << 14;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Runs the scenario from its first arrival until every request has ended, or no event is left. */
export function simulate(scenario: ClusterScenario, observer: RunObserver = {}): RunRecord {
  return new ClusterRun(scenario, observer).run();
}

/**
 * The virtual-time driver: it takes the next due entry from the calendar and carries it out.
 * Engines, coordinators and policies make all decisions, with the same code as in the live workers.
 * This class only passes facts between them, at their instants.
 */
export class ClusterRun {
  private readonly scenario: ClusterScenario;
  private readonly engines: VirtualEngine[] = [];
  private readonly calendar: Calendar;
  private readonly handoffs: Handoffs;
  private readonly membership: VirtualMembership;
  private readonly journal: Journal;
  private readonly lifecycle: Lifecycle;
  private readonly telemetry: Telemetry;
  /** Undefined without an autoscaler. */
  private readonly scaling: VirtualScaling | undefined;
  private readonly lives: LifeEvent[] = [];
  private readonly mostEngines: number;
  private readonly span: Mutable<StepSpan> = {
    engine: 0,
    startUs: 0,
    endUs: 0,
    steps: 0,
    generatedTokens: 0,
    promptTokens: 0,
  };
  private events = 0;
  private nowUs: Micros = 0;
  private isStopped = false;

  constructor(
    given: ClusterScenario,
    private readonly observer: RunObserver,
  ) {
    assertScenario(given);
    const scenario = watched(given, observer);
    this.scenario = scenario;
    const { engines } = this;
    const most = mostEngines(scenario);
    this.mostEngines = most;
    const slots = slotsAbove(3 * most);
    const calendar = new Calendar(3 * most + 6);
    this.calendar = calendar;
    this.journal = new Journal(scenario, observer.store);
    this.telemetry = new Telemetry(most);
    this.handoffs = new Handoffs(scenario.workload.count, {
      engines,
      calendar,
      kvLeaseUs: scenario.kvLeaseUs,
      onHandoff: observer.onHandoff,
      slots: { source: most, target: 2 * most, transfers: slots.transfers },
      onTransferStarted: (row, nowUs) => this.lifecycle.onTransferStarted(row, nowUs),
      onOffered: (row, nowUs) => this.lifecycle.onOffered(row, nowUs),
      onKvReady: (row, tokens, nowUs) => this.lifecycle.onKvReady(row, tokens, nowUs),
      onKvFailed: (row, why, nowUs) => this.lifecycle.onKvFailed(row, why, nowUs),
      onReleased: (engine, row, end) => this.lifecycle.onReleased(engine, row, end),
    });
    this.lifecycle = new Lifecycle(scenario, {
      engines,
      calendar,
      journal: this.journal,
      handoffs: this.handoffs,
      slots,
      policyWatch: observer.policyWatch,
      onShadow: observer.onShadow,
      onEnd: (row) => {
        if (observer.onEnd?.(row, this.journal.log) === false) this.isStopped = true;
      },
    });
    this.membership = this.openMembership(slots.membership);
    this.scaling =
      scenario.scaling &&
      new VirtualScaling(scenario.scaling, {
        calendar,
        pools: scenario.pools,
        slot: slots.scaling,
        replicas: this.membership.replicas,
        stages: this.lifecycle.stages,
        meter: this.journal.meter!,
        policyWatch: observer.policyWatch,
        onChange: (change, nowUs) => this.membership.change(change, nowUs),
      });
  }

  private openMembership(slot: number): VirtualMembership {
    const { engines, calendar } = this;
    return new VirtualMembership(this.scenario, {
      engines,
      calendar,
      watcher: this.telemetry,
      slot,
      onJoined: (engine) => {
        this.handoffs.add(engine);
        this.telemetry.onJoin(engine);
      },
      onStarting: (replica, nowUs, phases) => this.onStarting(replica, nowUs, phases),
      onFetching: (replica, fetchUs) => this.scaling?.noteFetch(replica, fetchUs),
      onReady: (engine, nowUs) => {
        this.note(engine, 'ready', nowUs);
        this.lifecycle.stages[engine.pool.role].add(engine, nowUs);
        this.lifecycle.onCapacity(nowUs);
      },
      onLeaving: (engine, nowUs) => {
        this.note(engine, 'draining', nowUs);
        this.lifecycle.stages[engine.pool.role].remove(engine, nowUs);
        this.lifecycle.onCapacity(nowUs);
      },
      onGone: (engine, nowUs) => {
        this.note(engine, 'gone', nowUs);
        this.telemetry.onGone(engine);
      },
    });
  }

  run(): RunRecord {
    const { calendar, journal, telemetry } = this;
    const { count } = this.scenario.workload;
    this.membership.begin();
    this.scaling?.begin();
    this.lifecycle.expectArrival(0);
    while (journal.ended < count && !this.isStopped) {
      const nowUs = calendar.nextUs;
      if (nowUs === Infinity) break;
      while (telemetry.nextUs <= nowUs) telemetry.sample(this.engines);
      assert(nowUs >= this.nowUs, 'virtual time goes forward');
      this.nowUs = nowUs;
      this.handle(calendar.next, nowUs);
      if ((++this.events & (PROGRESS_EVERY - 1)) === 0) {
        this.observer.onProgress?.(journal.ended, count);
      }
    }
    this.observer.onProgress?.(journal.ended, count);
    this.observer.onCaches?.(cachesOf(this.engines));
    return this.record();
  }

  /**
   * Recounts the holdings of every engine, and checks that nothing is left when every request has
   * ended.
   *
   * @throws InvariantError when a block, a sequence or a request was lost.
   */
  audit(): void {
    for (const { engine, engineId, isStepping } of this.engines) {
      engine.audit();
      const { kvUsage } = engine.snapshot();
      const isOver = this.journal.ended === this.scenario.workload.count;
      // A batch with rows of the last requests still writes to their blocks.
      const isWriting = (isStepping || engine.hasWork()) && !engine.isUnfinished();
      const isAtRest = isOver && !isWriting;
      assert(!isAtRest || kvUsage === 0, `${engineId} has blocks in use after the last request`);
    }
  }

  private onStarting(replica: Replica, nowUs: Micros, phases: readonly StartupPhase[]): void {
    for (const rank of replica.ranks) {
      this.telemetry.onJoin(rank);
      this.note(rank, 'starting', nowUs);
    }
    this.scaling?.noteStart(replica, nowUs, phases);
  }

  private note({ index, pool }: VirtualEngine, state: LifeState, atUs: Micros): void {
    this.lives.push({ atUs, engine: index, role: pool.role, state });
  }

  private handle(slot: number, nowUs: Micros): void {
    const { mostEngines: most, handoffs } = this;
    if (slot < most) this.step(this.engines[slot]!, nowUs);
    else if (slot < 2 * most) handoffs.sourceTick(slot - most, nowUs);
    else if (slot < 3 * most) handoffs.targetTick(slot - 2 * most, nowUs);
    else if (slot === 3 * most) handoffs.transfersDue(nowUs);
    else if (slot === 3 * most + 1) this.lifecycle.arrive(nowUs);
    else if (slot === 3 * most + 2) this.membership.handleDue(nowUs);
    else if (slot === 3 * most + 3) this.lifecycle.onPassed(nowUs);
    else if (slot === 3 * most + 4) this.scaling!.decide(nowUs);
    else this.lifecycle.onFlowDue(nowUs);
  }

  private step(engine: VirtualEngine, nowUs: Micros): void {
    if (engine.group !== undefined) {
      this.stepTogether(engine.group, nowUs);
      return;
    }
    if (engine.isStepping) {
      this.endStep(engine);
      if (engine.hasNothingToDo) this.rest(engine);
    }
    // The next step begins at the same instant, unless another event of this instant comes first.
    if (!engine.isStepping && this.calendar.isNext(engine.index)) this.beginStep(engine, nowUs);
    if (engine.state === 'draining') this.membership.checkEmpty(engine, nowUs);
  }

  /** Drops the next step, unless it would refill the engine. */
  private rest(engine: VirtualEngine): void {
    if (this.lifecycle.stages[engine.pool.role].waiting > 0) return;
    engine.mayTakeMore = false;
    this.calendar.clear(engine.index);
  }

  private beginStep(engine: VirtualEngine, nowUs: Micros): void {
    const stage = this.lifecycle.stages[engine.pool.role];
    const leapsAtOnce = stage.waiting === 0 && this.observer.onSteps === undefined;
    engine.begin(nowUs, leapsAtOnce, this.scaling?.nextUs ?? Infinity);
    this.onBegun(engine, nowUs);
  }

  private stepTogether(group: LockstepGroup, nowUs: Micros): void {
    const { ranks } = group;
    if (group.isStepping) {
      for (const rank of ranks) if (rank.isStepping) this.endStep(rank);
      group.endStep(nowUs);
    }
    if (!group.isStepping && this.calendar.isNext(group.slot)) {
      group.begin(nowUs);
      for (const rank of ranks) this.onBegun(rank, nowUs);
    }
    for (const rank of ranks) this.membership.checkEmpty(rank, nowUs);
  }

  /**
   * On a live cluster a job takes a moment from the queue to the engine. So jobs for which a step
   * made room, at its end or by its batch, enter after the next batch has been formed.
   */
  private onBegun(engine: VirtualEngine, nowUs: Micros): void {
    this.lifecycle.onStepBegun(engine, nowUs);
    if (!engine.mayTakeMore) return;
    engine.mayTakeMore = false;
    this.lifecycle.stages[engine.pool.role].refill(engine, nowUs);
  }

  private endStep(engine: VirtualEngine): void {
    const { onSteps } = this.observer;
    const computed = onSteps === undefined ? 0 : engine.engine.counters.promptTokensComputed;
    const facts = engine.endStep();
    const generated = this.journal.note(engine, facts);
    if (onSteps !== undefined) {
      const prompt = engine.engine.counters.promptTokensComputed - computed;
      this.observeSteps(engine, facts, { generated, prompt });
    }
    this.lifecycle.onStep(engine, facts);
  }

  private observeSteps(
    engine: VirtualEngine,
    facts: StepFacts,
    tokens: { generated: number; prompt: number },
  ): void {
    const { span } = this;
    span.engine = engine.index;
    span.startUs = facts.startUs;
    span.endUs = facts.endUs;
    span.steps = facts.steps;
    span.generatedTokens = tokens.generated;
    span.promptTokens = tokens.prompt;
    this.observer.onSteps!(span);
  }

  private record(): RunRecord {
    const { engines, telemetry, journal, lives, nowUs } = this;
    const series = telemetry.record(engines);
    return {
      log: journal.log,
      engines: engines.map((engine) => engine.record(nowUs, telemetry.usageOf(engine.index))),
      itl: journal.itl,
      series,
      lives,
      ...(this.scaling && { scaling: this.scaling.record() }),
      endUs: nowUs,
      steps: engines.reduce((sum, { engine }) => sum + engine.counters.steps, 0),
      events: this.events,
    };
  }
}

/** Calendar slots of parts other than engines, from the first one on. */
function slotsAbove(first: number) {
  return {
    transfers: first,
    arrivals: first + 1,
    membership: first + 2,
    passes: first + 3,
    scaling: first + 4,
    flow: first + 5,
  };
}

function assertScenario(scenario: ClusterScenario): void {
  const { pools, changes, scaling, workload, kvLeaseUs, recordedPlacement } = scenario;
  assert(pools.length > 0, 'a cluster has engines');
  assert(kvLeaseUs >= 6, 'the KV lease is too short');
  assert(!scaling || changes.length === 0, 'an autoscaler has no schedule beside it');
  assert(
    !recordedPlacement || (changes.length === 0 && !scaling),
    'a recorded placement needs a fixed topology',
  );
  for (const { options, count, dataParallel } of pools) {
    assert(count % (dataParallel?.size ?? 1) === 0, 'an engine has all its ranks');
    const isFit = workload.contentCount === 0 || options.blockSize === workload.contentBlockTokens;
    assert(isFit, 'contents must come in the size of the KV blocks');
  }
}

/** The engines of a pool share one policy for their queues; its faults go to the observer. */
function watched(scenario: ClusterScenario, { policyWatch }: RunObserver): ClusterScenario {
  if (policyWatch === undefined) return scenario;
  const pools = scenario.pools.map((pool) => ({
    ...pool,
    options: watchedScheduling(pool.options, policyWatch),
  }));
  return { ...scenario, pools };
}
