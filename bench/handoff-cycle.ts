import {
  leaseTimes,
  type SourceAction as AnySourceAction,
  SourceCoordinator,
  type SourceFact as AnySourceFact,
  type TargetAction as AnyTargetAction,
  TargetCoordinator,
  type TargetFact as AnyTargetFact,
  TransferSet,
  type TransferStart,
} from '@baton/handoff';
import { type Micros, RandomStream } from '@baton/kernel';

/**
 * The cost of the hand-over in a virtual cluster: user CPU per request for both coordinators and
 * the transfers, over the ordinary life of every request. The minimal driver is part of the figure.
 *
 *   node dist/bench/handoff-cycle.js [rounds] [GB/s into a target]
 *
 * At 4.2 GB/s, the default, 4.3 transfers are under way into each target on average; at 40 GB/s
 * 0.1.
 */
const REQUESTS = 500_000;
const SOURCES = 4;
const TARGETS = 8;
const MEAN_GAP_US = 5_000;
const MEAN_TOKENS = 1_024;
const BYTES_PER_TOKEN = 131_072;
const BLOCK_TOKENS = 16;
const TARGET_BYTES_PER_SECOND = Number(process.argv[3] ?? 4.2) * 1e9;
const SOURCE_BYTES_PER_SECOND = 6 * TARGET_BYTES_PER_SECOND;
const BASE_LATENCY_US = 100;

/** Facts name requests by row and engines by index. */
type SourceFact = AnySourceFact<number>;
type SourceAction = AnySourceAction<number>;
type TargetFact = AnyTargetFact<number>;
type TargetAction = AnyTargetAction<number>;
type Of<A extends { kind: string }, K extends A['kind']> = Extract<A, { kind: K }>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] extends object ? Mutable<T[K]> : T[K] };
type Fact<F extends { kind: string }, K extends F['kind']> = Mutable<Of<F, K>>;

/** The requests as columns, drawn before the measurement. */
class Schedule {
  readonly heldUs = new Float64Array(REQUESTS);
  readonly tokens = new Int32Array(REQUESTS);
  readonly source = new Uint8Array(REQUESTS);
  readonly target = new Uint8Array(REQUESTS);

  constructor() {
    const random = RandomStream.root(1).stream('handoff-cycle');
    let nowUs = 0;
    for (let row = 0; row < REQUESTS; row++) {
      nowUs += Math.ceil(random.exponential(MEAN_GAP_US));
      this.heldUs[row] = nowUs;
      this.tokens[row] = Math.ceil(random.lognormal(MEAN_TOKENS, 0.8));
      this.source[row] = random.integer(SOURCES);
      this.target[row] = random.integer(TARGETS);
    }
  }
}

/**
 * One object for each kind of fact, reused: coordinators copy what they need and keep no reference.
 */
class Facts {
  readonly held: Fact<SourceFact, 'prompt-held'> = {
    kind: 'prompt-held',
    requestId: 0,
    epoch: 1,
    tokens: 0,
    nowUs: 0,
  };
  readonly accepted: Fact<TargetFact, 'accepted'> = {
    kind: 'accepted',
    requestId: 0,
    epoch: 1,
    nowUs: 0,
    source: { engineId: 0, requestId: 0, epoch: 1, generation: 0 },
  };
  readonly reserved: Fact<TargetFact, 'reserved'> = {
    kind: 'reserved',
    requestId: 0,
    epoch: 1,
    missingTokens: 0,
    missingBlocks: 0,
    nowUs: 0,
  };
  readonly requested: Fact<SourceFact, 'read-requested'> = {
    kind: 'read-requested',
    requestId: 0,
    epoch: 1,
    generation: 0,
    reader: 0,
    readerRequestId: 0,
    attempt: 0,
    nowUs: 0,
  };
  readonly answered: Fact<TargetFact, 'read-answered'> = {
    kind: 'read-answered',
    from: 0,
    requestId: 0,
    attempt: 0,
    outcome: 'blocks',
    heldTokens: 0,
    bytesPerSecond: SOURCE_BYTES_PER_SECOND,
    ports: 1,
    bytesPerToken: BYTES_PER_TOKEN,
    activeReads: 0,
    nowUs: 0,
  };
  readonly done: Fact<TargetFact, 'transfer-done'> = {
    kind: 'transfer-done',
    requestId: 0,
    epoch: 1,
    nowUs: 0,
  };
  readonly ended: Fact<SourceFact, 'read-ended'> = {
    kind: 'read-ended',
    requestId: 0,
    generation: 0,
    reader: 0,
    readerRequestId: 0,
    outcome: 'done',
    nowUs: 0,
  };
  readonly start: Mutable<TransferStart<number>> = {
    id: 0,
    sourceId: 0,
    targetId: 0,
    bytes: 0,
    baseLatencyUs: BASE_LATENCY_US,
    nowUs: 0,
    sourceBytesPerSecond: SOURCE_BYTES_PER_SECOND,
    targetBytesPerSecond: TARGET_BYTES_PER_SECOND,
    sourcePorts: 1,
  };
}

/** Messages take no time. One set of transfers holds both counts, so no message carries shares. */
class Cycle {
  private readonly lease = leaseTimes();
  private readonly sources = Array.from(
    { length: SOURCES },
    () => new SourceCoordinator<number>({ lease: this.lease, rows: REQUESTS }),
  );
  private readonly targets = Array.from({ length: TARGETS }, () => {
    const bytesPerToken = BYTES_PER_TOKEN;
    return new TargetCoordinator<number>({
      lease: this.lease,
      rows: REQUESTS,
      answerWithinUs: 1_000_000,
      ports: 1,
      bytesPerToken,
      bytesPerBlock: bytesPerToken * BLOCK_TOKENS,
    });
  });
  private readonly transfers = new TransferSet<number>();
  private readonly facts = new Facts();
  private readonly wakeUs = new Float64Array(SOURCES + TARGETS).fill(Infinity);
  private nextToWake = 0;
  private nowUs: Micros = 0;
  /** Checksum of the instants at which KV arrived. A change that must not alter them keeps it. */
  checksum = 0;
  inFlight = 0;
  heartbeats = 0;
  released = 0;

  constructor(private readonly schedule: Schedule) {}

  run(): void {
    for (let row = 0; row < REQUESTS; row++) {
      this.settleUntil(this.schedule.heldUs[row]!);
      this.nowUs = this.schedule.heldUs[row]!;
      this.inFlight += this.transfers.size;
      this.hold(row);
    }
    this.settleUntil(Infinity);
  }

  private settleUntil(untilUs: Micros): void {
    for (;;) {
      const doneUs = this.transfers.nextCompletionUs() ?? Infinity;
      const engine = this.nextToWake;
      const nextUs = Math.min(doneUs, this.wakeUs[engine]!);
      if (nextUs > untilUs || nextUs === Infinity) return;
      this.nowUs = nextUs;
      if (doneUs === nextUs) this.complete();
      else this.wake(engine);
    }
  }

  private setWakeUp(engine: number, dueUs: Micros | undefined): void {
    const { wakeUs } = this;
    wakeUs[engine] = dueUs ?? Infinity;
    if (engine !== this.nextToWake) {
      if (wakeUs[engine]! < wakeUs[this.nextToWake]!) this.nextToWake = engine;
      return;
    }
    for (let other = 0; other < wakeUs.length; other++) {
      if (wakeUs[other]! < wakeUs[this.nextToWake]!) this.nextToWake = other;
    }
  }

  private wake(engine: number): void {
    const fact = { kind: 'tick', nowUs: this.nowUs } as const;
    if (engine < SOURCES) this.tellSource(engine, fact);
    else this.tellTarget(engine - SOURCES, fact);
  }

  private hold(row: number): void {
    const { held } = this.facts;
    const at = this.schedule.source[row]!;
    held.requestId = row;
    held.tokens = this.schedule.tokens[row]!;
    held.nowUs = this.nowUs;
    this.tellSource(at, held);
  }

  private complete(): void {
    for (const { id, completedUs } of this.transfers.completed(this.nowUs)) {
      this.checksum += completedUs;
      const { done } = this.facts;
      done.requestId = id;
      done.nowUs = completedUs;
      this.tellTarget(this.schedule.target[id]!, done);
    }
  }

  private tellSource(at: number, fact: SourceFact): void {
    for (const action of this.sources[at]!.handle(fact)) {
      if (action.kind === 'hand-over') this.accept(at, action);
      else if (action.kind === 'answer-read') this.answer(at, action);
      else if (action.kind === 'release-blocks') this.released += 1;
    }
    this.setWakeUp(at, this.sources[at]!.nextWakeUpUs());
  }

  private accept(from: number, action: Of<SourceAction, 'hand-over'>): void {
    const { accepted, reserved } = this.facts;
    const { requestId } = action;
    const at = this.schedule.target[requestId]!;
    accepted.requestId = requestId;
    accepted.source.engineId = from;
    accepted.source.requestId = requestId;
    accepted.source.generation = action.generation;
    accepted.nowUs = this.nowUs;
    this.tellTarget(at, accepted);
    reserved.requestId = requestId;
    reserved.missingTokens = this.schedule.tokens[requestId]!;
    reserved.missingBlocks = Math.ceil(reserved.missingTokens / BLOCK_TOKENS);
    reserved.nowUs = this.nowUs;
    this.tellTarget(at, reserved);
  }

  private answer(from: number, action: Of<SourceAction, 'answer-read'>): void {
    const { answered } = this.facts;
    answered.from = from;
    answered.requestId = action.readerRequestId;
    answered.attempt = action.attempt;
    answered.outcome = action.outcome;
    answered.heldTokens = action.heldTokens;
    answered.activeReads = action.activeReads;
    answered.nowUs = this.nowUs;
    this.tellTarget(this.schedule.target[action.readerRequestId]!, answered);
  }

  private tellTarget(at: number, fact: TargetFact): void {
    for (const action of this.targets[at]!.handle(fact)) {
      if (action.kind === 'send-read') this.read(at, action);
      else if (action.kind === 'start-transfer') this.start(at, action);
      else if (action.kind === 'send-read-end') this.endRead(at, action);
      else if (action.kind === 'send-heartbeats') this.beat(at, action);
    }
    this.setWakeUp(SOURCES + at, this.targets[at]!.nextWakeUpUs());
  }

  private read(at: number, action: Of<TargetAction, 'send-read'>): void {
    const { requested } = this.facts;
    requested.requestId = action.requestId;
    requested.epoch = action.epoch;
    requested.generation = action.generation;
    requested.reader = at;
    requested.readerRequestId = action.readerRequestId;
    requested.attempt = action.attempt;
    requested.nowUs = this.nowUs;
    this.tellSource(action.to, requested);
  }

  private start(at: number, action: Of<TargetAction, 'start-transfer'>): void {
    const { start } = this.facts;
    start.id = action.requestId;
    start.sourceId = action.sourceId;
    start.targetId = at;
    start.bytes = action.bytes;
    start.nowUs = this.nowUs;
    this.transfers.start(start);
  }

  private endRead(at: number, action: Of<TargetAction, 'send-read-end'>): void {
    const { ended } = this.facts;
    ended.requestId = action.requestId;
    ended.generation = action.generation;
    ended.reader = at;
    ended.readerRequestId = action.readerRequestId;
    ended.outcome = action.outcome;
    ended.nowUs = this.nowUs;
    this.tellSource(action.to, ended);
  }

  private beat(at: number, { to, requestIds }: Of<TargetAction, 'send-heartbeats'>): void {
    this.heartbeats += 1;
    this.tellSource(to, { kind: 'heartbeat', reader: at, requestIds, nowUs: this.nowUs });
  }
}

function measure(schedule: Schedule): Record<string, number> {
  const cycle = new Cycle(schedule);
  const before = process.cpuUsage();
  cycle.run();
  const { user } = process.cpuUsage(before);
  const { checksum, heartbeats, released } = cycle;
  const inFlightPerTarget = cycle.inFlight / REQUESTS / TARGETS;
  return { usPerRequest: user / REQUESTS, inFlightPerTarget, heartbeats, released, checksum };
}

const schedule = new Schedule();
const rounds = Number(process.argv[2] ?? 5);
for (let round = 0; round < rounds; round++) console.log(JSON.stringify(measure(schedule)));
