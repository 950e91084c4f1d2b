import {
  type Handlers,
  leaseTimes,
  type SourceAction,
  SourceCoordinator,
  type TargetAction,
  TargetCoordinator,
  TransferSet,
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

type SourceDoes<K extends SourceAction['kind']> = Extract<SourceAction<number>, { kind: K }>;
type TargetDoes<K extends TargetAction['kind']> = Extract<TargetAction<number>, { kind: K }>;

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
 * Messages take no time, so an action of one side is at once a fact of the other. No lease ends:
 * each holding is accepted at its instant.
 */
class Cycle implements Handlers<SourceAction<number>>, Handlers<TargetAction<number>> {
  private readonly source = new SourceCoordinator<number>(
    { lease: leaseTimes(), rows: REQUESTS },
    this,
  );
  private readonly target = new TargetCoordinator<number>(
    {
      lease: leaseTimes(),
      rows: REQUESTS,
      answerWithinUs: 1_000_000,
      ports: 1,
      bytesPerToken: BYTES_PER_TOKEN,
      bytesPerBlock: BYTES_PER_TOKEN * BLOCK_TOKENS,
    },
    this,
  );
  private readonly transfers = new TransferSet<number>(REQUESTS);
  private nowUs: Micros = 0;
  /** Checksum of the instants at which KV arrived. A change that must not alter them keeps it. */
  checksum = 0;
  inFlight = 0;
  heartbeats = 0;
  released = 0;

  constructor(private readonly schedule: Schedule) {}

  run(): void {
    for (let row = 0; row < REQUESTS; row++) {
      this.completeUntil(this.schedule.heldUs[row]!);
      this.nowUs = this.schedule.heldUs[row]!;
      this.inFlight += this.transfers.size;
      this.hold(row);
    }
    this.completeUntil(Infinity);
  }

  private hold(row: number): void {
    const { nowUs } = this;
    const tokens = this.schedule.tokens[row]!;
    this.source['prompt-held']({ kind: 'prompt-held', requestId: row, epoch: 1, tokens, nowUs });
  }

  private completeUntil(untilUs: Micros): void {
    for (;;) {
      const dueUs = this.transfers.nextCompletionUs();
      if (dueUs === undefined || dueUs > untilUs) return;
      this.nowUs = dueUs;
      for (const { id, completedUs } of this.transfers.completed(dueUs)) {
        this.checksum += completedUs;
        const done = {
          kind: 'transfer-done',
          requestId: id,
          epoch: 1,
          nowUs: completedUs,
        } as const;
        this.target['transfer-done'](done);
      }
    }
  }

  'hand-over'({ requestId, epoch, generation }: SourceDoes<'hand-over'>): void {
    const { nowUs, schedule } = this;
    const source = { engineId: schedule.source[requestId]!, requestId, epoch, generation };
    this.target.accepted({ kind: 'accepted', requestId, epoch, source, nowUs });
    const missingTokens = schedule.tokens[requestId]!;
    const missingBlocks = Math.ceil(missingTokens / BLOCK_TOKENS);
    const missing = { missingTokens, missingBlocks };
    this.target.reserved({ kind: 'reserved', requestId, epoch, ...missing, nowUs });
  }

  'answer-read'(action: SourceDoes<'answer-read'>): void {
    this.target['read-answered']({
      kind: 'read-answered',
      from: this.schedule.source[action.readerRequestId]!,
      requestId: action.readerRequestId,
      attempt: action.attempt,
      outcome: action.outcome,
      heldTokens: action.heldTokens,
      bytesPerSecond: SOURCE_BYTES_PER_SECOND,
      ports: 1,
      bytesPerToken: BYTES_PER_TOKEN,
      activeReads: action.activeReads,
      nowUs: this.nowUs,
    });
  }

  'release-blocks'(): void {
    this.released += 1;
  }

  'share-changed'(): void {}

  'send-heartbeats'({ requestIds }: TargetDoes<'send-heartbeats'>): void {
    this.heartbeats += 1;
    const reader = this.schedule.target[requestIds[0]!]!;
    this.source.heartbeat({ kind: 'heartbeat', reader, requestIds, nowUs: this.nowUs });
  }

  'send-read'(action: TargetDoes<'send-read'>): void {
    this.source['read-requested']({
      kind: 'read-requested',
      requestId: action.requestId,
      epoch: action.epoch,
      generation: action.generation,
      reader: this.schedule.target[action.readerRequestId]!,
      readerRequestId: action.readerRequestId,
      attempt: action.attempt,
      nowUs: this.nowUs,
    });
  }

  'send-read-end'(action: TargetDoes<'send-read-end'>): void {
    this.source['read-ended']({
      kind: 'read-ended',
      requestId: action.requestId,
      generation: action.generation,
      reader: this.schedule.target[action.readerRequestId]!,
      readerRequestId: action.readerRequestId,
      outcome: action.outcome,
      nowUs: this.nowUs,
    });
  }

  'start-transfer'(action: TargetDoes<'start-transfer'>): void {
    this.transfers.start({
      id: action.requestId,
      sourceId: action.sourceId,
      targetId: this.schedule.target[action.requestId]!,
      bytes: action.bytes,
      baseLatencyUs: BASE_LATENCY_US,
      sourceBytesPerSecond: SOURCE_BYTES_PER_SECOND,
      targetBytesPerSecond: TARGET_BYTES_PER_SECOND,
      sourcePorts: 1,
      nowUs: this.nowUs,
    });
  }

  'send-release'(): void {}
  'set-share'(): void {}
  'cancel-transfer'(): void {}
  'kv-ready'(): void {}
  'kv-failed'(): void {}
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
