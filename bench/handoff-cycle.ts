import {
  leaseTimes,
  type SourceAction as AnySourceAction,
  SourceCoordinator,
  type SourceName as AnySourceName,
  type TargetAction as AnyTargetAction,
  TargetCoordinator,
  TransferSet,
} from '@baton/handoff';
import { type Micros, RandomStream } from '@baton/kernel';

/**
 * What the hand-over costs a virtual cluster: user CPU per request for both coordinators and the
 * transfers, driven through the ordinary life of every request. The driver is as small as one can
 * be, and is part of the number.
 *
 *   node dist/bench/handoff-cycle.js [rounds]
 */
const REQUESTS = 500_000;
const SOURCES = 4;
const TARGETS = 8;
const MEAN_GAP_US = 5_000;
const MEAN_TOKENS = 1_024;
const BYTES_PER_TOKEN = 131_072;
const SOURCE_BYTES_PER_SECOND = 25e9;
const TARGET_BYTES_PER_SECOND = 4.2e9;
const BASE_LATENCY_US = 100;

/** Requests go by their rows, engines by their indices. */
type SourceAction = AnySourceAction<number>;
type TargetAction = AnyTargetAction<number>;
type SourceName = AnySourceName<number>;
type Of<A extends { kind: string }, K extends A['kind']> = Extract<A, { kind: K }>;

/** Requests as columns, drawn before the clock runs. */
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

/** Messages take no time; the one set of transfers knows both counts, so nobody is told of shares. */
class Cycle {
  private readonly lease = leaseTimes();
  private readonly sources = Array.from(
    { length: SOURCES },
    () => new SourceCoordinator<number>({ lease: this.lease, tellsShares: false }),
  );
  private readonly targets = Array.from({ length: TARGETS }, () => {
    const bytesPerToken = BYTES_PER_TOKEN;
    return new TargetCoordinator<number>({
      lease: this.lease,
      answerWithinUs: 1_000_000,
      bytesPerToken,
    });
  });
  private readonly transfers = new TransferSet<number>();
  private readonly wakeUs = new Float64Array(SOURCES + TARGETS).fill(Infinity);
  private nowUs: Micros = 0;
  /** Of the instants at which KV arrived: the same before and after a change that may not alter them. */
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
      const engine = this.nextToWake();
      const nextUs = Math.min(doneUs, this.wakeUs[engine]!);
      if (nextUs > untilUs || nextUs === Infinity) return;
      this.nowUs = nextUs;
      if (doneUs === nextUs) this.complete();
      else this.wake(engine);
    }
  }

  private nextToWake(): number {
    let first = 0;
    for (let engine = 1; engine < this.wakeUs.length; engine++) {
      if (this.wakeUs[engine]! < this.wakeUs[first]!) first = engine;
    }
    return first;
  }

  private wake(engine: number): void {
    const fact = { kind: 'tick', nowUs: this.nowUs } as const;
    if (engine < SOURCES) this.tellSource(engine, this.sources[engine]!.handle(fact));
    else this.tellTarget(engine - SOURCES, this.targets[engine - SOURCES]!.handle(fact));
  }

  private hold(row: number): void {
    const { source, tokens } = this.schedule;
    const at = source[row]!;
    const actions = this.sources[at]!.handle({
      kind: 'prompt-held',
      requestId: row,
      epoch: 1,
      tokens: tokens[row]!,
      nowUs: this.nowUs,
    });
    this.tellSource(at, actions);
  }

  private complete(): void {
    for (const { id, completedUs } of this.transfers.completed(this.nowUs)) {
      this.checksum = (this.checksum + completedUs) % 2 ** 40;
      const at = this.schedule.target[id]!;
      const actions = this.targets[at]!.handle({
        kind: 'transfer-done',
        requestId: id,
        epoch: 1,
        nowUs: completedUs,
      });
      this.tellTarget(at, actions);
    }
  }

  private tellSource(at: number, actions: readonly SourceAction[]): void {
    for (const action of actions) {
      if (action.kind === 'hand-over') this.accept(at, action);
      else if (action.kind === 'answer-read') this.answer(at, action);
      else if (action.kind === 'release-blocks') this.released += 1;
    }
    this.wakeUs[at] = this.sources[at]!.nextWakeUpUs() ?? Infinity;
  }

  private accept(from: number, { requestId, epoch, generation }: Of<SourceAction, 'hand-over'>) {
    const row = requestId;
    const at = this.schedule.target[row]!;
    const target = this.targets[at]!;
    const { nowUs } = this;
    const source: SourceName = { engineId: from, requestId, epoch, generation };
    this.tellTarget(at, target.handle({ kind: 'accepted', requestId, epoch, source, nowUs }));
    const missingTokens = this.schedule.tokens[row]!;
    const reserved = { kind: 'reserved', requestId, epoch, missingTokens, nowUs } as const;
    this.tellTarget(at, target.handle(reserved));
  }

  private answer(from: number, action: Of<SourceAction, 'answer-read'>): void {
    const at = this.schedule.target[action.readerRequestId]!;
    const actions = this.targets[at]!.handle({
      kind: 'read-answered',
      from: from,
      requestId: action.readerRequestId,
      attempt: action.attempt,
      outcome: action.outcome,
      heldTokens: action.heldTokens,
      bytesPerSecond: SOURCE_BYTES_PER_SECOND,
      activeReads: action.activeReads,
      nowUs: this.nowUs,
    });
    this.tellTarget(at, actions);
  }

  private tellTarget(at: number, actions: readonly TargetAction[]): void {
    for (const action of actions) {
      if (action.kind === 'send-read') this.read(at, action);
      else if (action.kind === 'start-transfer') this.start(at, action);
      else if (action.kind === 'send-read-end') this.endRead(at, action);
      else if (action.kind === 'send-heartbeats') this.beat(at, action);
    }
    this.wakeUs[SOURCES + at] = this.targets[at]!.nextWakeUpUs() ?? Infinity;
  }

  private read(at: number, action: Of<TargetAction, 'send-read'>): void {
    const to = action.to;
    const actions = this.sources[to]!.handle({
      kind: 'read-requested',
      requestId: action.requestId,
      epoch: action.epoch,
      generation: action.generation,
      reader: at,
      readerRequestId: action.readerRequestId,
      attempt: action.attempt,
      nowUs: this.nowUs,
    });
    this.tellSource(to, actions);
  }

  private start(at: number, action: Of<TargetAction, 'start-transfer'>): void {
    this.transfers.start({
      id: action.requestId,
      sourceId: action.sourceId,
      targetId: at,
      bytes: action.bytes,
      baseLatencyUs: BASE_LATENCY_US,
      sourceBytesPerSecond: action.bytesPerSecond,
      targetBytesPerSecond: TARGET_BYTES_PER_SECOND,
      nowUs: this.nowUs,
    });
  }

  private endRead(at: number, action: Of<TargetAction, 'send-read-end'>): void {
    const to = action.to;
    const actions = this.sources[to]!.handle({
      kind: 'read-ended',
      requestId: action.requestId,
      generation: action.generation,
      reader: at,
      readerRequestId: action.readerRequestId,
      outcome: action.outcome,
      nowUs: this.nowUs,
    });
    this.tellSource(to, actions);
  }

  private beat(at: number, { to, requestIds }: Of<TargetAction, 'send-heartbeats'>): void {
    this.heartbeats += 1;
    const index = to;
    const { nowUs } = this;
    const fact = { kind: 'heartbeat', reader: at, requestIds, nowUs } as const;
    this.tellSource(index, this.sources[index]!.handle(fact));
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
