import type { RunRecord } from '@baton/analysis';
import type { StepFacts } from '@baton/engine';
import { assert, type Micros } from '@baton/kernel';
import { watchedScheduling } from '@baton/policies';
import { Calendar } from './calendar';
import { cachesOf } from './caches/engine-caches';
import { Handoffs } from './handoffs';
import { Journal } from './journal';
import type { LockstepGroup } from './ranks/lockstep-group';
import { Lifecycle } from './lifecycle';
import { VirtualMembership, mostEngines } from './membership';
import type { ClusterScenario, RunObserver, StepSpan } from './scenario';
import { VirtualScaling } from './scaling';
import { Telemetry } from './telemetry';
import { Trips } from './trips';
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

  constructor(
    given: ClusterScenario,
    private readonly observer: RunObserver,
  ) {
    assertScenario(given);
    const scenario = watched(given, observer);
    this.scenario = scenario;
    const { engines } = this;
    const { pools, workload } = scenario;
    const { onHandoff, policyWatch } = observer;
    const most = mostEngines(scenario);
    this.mostEngines = most;
    const slots = slotsAbove(most);
    const calendar = new Calendar(most + 7);
    this.calendar = calendar;
    const journal = new Journal(scenario, observer.store);
    this.journal = journal;
    const { log, meter } = journal;
    const trips = new Trips(workload.count);
    const telemetry = new Telemetry(most);
    this.telemetry = telemetry;
    const handoffs = new Handoffs(scenario, {
      engines,
      calendar,
      log,
      trips,
      onHandoff,
      slots,
    });
    this.handoffs = handoffs;
    const lifecycle = new Lifecycle(scenario, {
      engines,
      calendar,
      journal,
      trips,
      handoffs,
      slots,
      observer,
    });
    this.lifecycle = lifecycle;
    const membership = new VirtualMembership(scenario, {
      engines,
      calendar,
      slot: slots.membership,
      handoffs,
      lifecycle,
      telemetry,
    });
    this.membership = membership;
    this.scaling =
      scenario.scaling &&
      new VirtualScaling(scenario.scaling, {
        calendar,
        pools,
        slot: slots.scaling,
        membership,
        stages: lifecycle.stages,
        meter: meter!,
        policyWatch,
      });
  }

  run(): RunRecord {
    const { calendar, journal, telemetry } = this;
    const { count } = this.scenario.workload;
    this.membership.begin();
    this.scaling?.begin();
    this.lifecycle.expectArrival(0);
    while (journal.ended < count && !this.lifecycle.isStopped) {
      const nowUs = calendar.nextUs;
      if (nowUs === Infinity) break;
      while (telemetry.nextUs <= nowUs) telemetry.sample(this.engines);
      assert(nowUs >= this.nowUs, 'virtual time goes forward');
      this.nowUs = nowUs;
      this.handle(calendar.next, nowUs);
      this.formBatches(nowUs);
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

  private handle(slot: number, nowUs: Micros): void {
    const { mostEngines: most, handoffs } = this;
    if (slot < most) this.step(this.engines[slot]!, nowUs);
    else if (slot === most) handoffs.leasesDue(nowUs);
    else if (slot === most + 1) handoffs.transfersDue(nowUs);
    else if (slot === most + 2) this.lifecycle.arrive(nowUs);
    else if (slot === most + 3) this.membership.handleDue(nowUs);
    else if (slot === most + 4) this.lifecycle.onPassed(nowUs);
    else if (slot === most + 5) this.scaling!.decide(nowUs);
    else this.lifecycle.onFlowDue(nowUs);
  }

  private step(engine: VirtualEngine, nowUs: Micros): void {
    const { calendar, lifecycle, membership } = this;
    if (engine.group !== undefined) {
      this.stepTogether(engine.group, nowUs);
      return;
    }
    this.endStep(engine, nowUs);
    const { role } = engine.pool;
    // No batch forms when it would be empty and nothing waits to refill the engine.
    if (engine.hasNothingToDo && lifecycle.stages[role].waiting === 0) engine.mayTakeMore = false;
    else calendar.form(engine.index);
    membership.checkEmpty(engine, nowUs);
  }

  /** The step of the ranks has ended, or the common boundary for the next one has come. */
  private stepTogether(group: LockstepGroup, nowUs: Micros): void {
    const { calendar, membership } = this;
    const { ranks } = group;
    calendar.clear(group.slot);
    if (group.isStepping) {
      for (const rank of ranks) if (rank.isStepping) this.endStep(rank, nowUs);
      group.endStep();
    }
    calendar.form(group.slot);
    for (const rank of ranks) membership.checkEmpty(rank, nowUs);
  }

  /** Forms the batches that begin at this instant, unless something else is due before. */
  private formBatches(nowUs: Micros): void {
    const { calendar, engines } = this;
    let slot = calendar.nextForming(nowUs);
    for (; slot !== undefined; slot = calendar.nextForming(nowUs)) {
      const engine = engines[slot]!;
      if (engine.group === undefined) this.beginStep(engine, nowUs);
      else this.beginTogether(engine.group, nowUs);
    }
  }

  private beginStep(engine: VirtualEngine, nowUs: Micros): void {
    const stage = this.lifecycle.stages[engine.pool.role];
    const isWatched = this.scaling !== undefined || this.observer.onSteps !== undefined;
    const leapsAtOnce = stage.waiting === 0 && !isWatched;
    engine.begin(nowUs, leapsAtOnce, this.scaling?.nextUs ?? Infinity);
    this.onBegun(engine, nowUs);
    this.membership.checkEmpty(engine, nowUs);
  }

  private beginTogether(group: LockstepGroup, nowUs: Micros): void {
    const { ranks } = group;
    group.begin(nowUs);
    for (const rank of ranks) this.onBegun(rank, nowUs);
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
    this.lifecycle.refill(engine, nowUs);
  }

  private endStep(engine: VirtualEngine, nowUs: Micros): void {
    const { onSteps } = this.observer;
    const computed = onSteps === undefined ? 0 : engine.engine.counters.promptTokensComputed;
    const facts = engine.endStep(nowUs);
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
    span.steps = 1 + facts.later.steps;
    span.generatedTokens = tokens.generated;
    span.promptTokens = tokens.prompt;
    this.observer.onSteps!(span);
  }

  private record(): RunRecord {
    const { engines, telemetry, journal, membership, nowUs } = this;
    const series = telemetry.record(engines);
    return {
      log: journal.log,
      engines: engines.map((engine) => engine.record(nowUs, telemetry.fullnessOf(engine.index))),
      itl: journal.itl,
      series,
      lives: membership.lives,
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
    leases: first,
    transfers: first + 1,
    arrivals: first + 2,
    membership: first + 3,
    passes: first + 4,
    scaling: first + 5,
    flow: first + 6,
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
