import { clearDeadline, DeadlineList, type Micros, newDeadline, NOT_YET } from '@baton/kernel';
import { Fetch, type RunOfFetch, viewOfFetch } from './fetch';
import { deliver, type Handlers } from './handlers';
import { Heartbeats } from './heartbeats';
import { type KvPorts, sourcePortsOf } from './kv-ports';
import type { LeaseTimes } from './lease';
import { Outbox } from './outbox';
import { type AnyId, newRequestTable, type RequestTable } from './request-table';
import type {
  FetchFailure,
  FetchView,
  SourceName,
  TargetAction,
  TargetCounters,
  TargetFact,
} from './target-protocol';
import { EVERY_EPOCH, isBuried, overEpochOf, Tombstones } from './tombstones';

export interface TargetOptions extends KvPorts {
  readonly lease: LeaseTimes;
  /**
   * Timeout of one request for blocks. An infrastructure timeout: the driver converts its wall time
   * to simulated µs.
   */
  readonly answerWithinUs: Micros;
  /** Requests per read; default 2. */
  readonly readTries?: number;
  /**
   * Called after `tries` requests without an answer; returns whether the holder is late and gets
   * another request. Unset: no further request.
   */
  readonly mayBeLate?: (engineId: AnyId, tries: number) => boolean;
  /** Bytes of a KV block that one rank stores. */
  readonly bytesPerBlock: number;
  /**
   * True when the rate of the link follows from a time per token: a transfer then takes the time of
   * its tokens. Unset: that of its blocks.
   */
  readonly isTimedByTokens?: boolean;
  /**
   * Set where one driver has both sides of every hand-over: see `SourceOptions`. A fetch is then
   * announced once, at its acceptance, and one coordinator serves all engines of equal options.
   */
  readonly rows?: number;
}

type Fact<Id extends AnyId, K extends TargetFact['kind']> = Extract<TargetFact<Id>, { kind: K }>;

const DEFAULT_READ_TRIES = 2;

/**
 * Failures after which no engine reads the blocks again, so that the source can free them before
 * the lease ends. (`superseded` is not one of them: the run that took over reads the same holding.)
 */
const WILL_NOT_BE_READ: ReadonlySet<FetchFailure> = new Set(['aborted', 'rejected', 'timeout']);

/**
 * Owns the fetches of one engine: the prompt, the source and the state of each. The engine's driver
 * passes facts in and carries out the returned actions; the coordinator sends no message, times no
 * transfer (`TransferSet` does) and reserves no block itself. Answers that are repeated, late or
 * for an earlier run have no effect, because request numbers are never reused.
 */
export class TargetCoordinator<Id extends AnyId = string> implements Handlers<TargetFact<Id>> {
  private readonly fetches: RequestTable<Id, Fetch<Id>>;
  private readonly unanswered = new DeadlineList<Fetch<Id>>();
  private readonly heartbeats: Heartbeats<Id>;
  /** Undefined where no message is repeated or late. */
  private readonly over: Tombstones<Id> | undefined;
  private readonly isLossless: boolean;
  private readonly readTries: number;
  private readonly tally = {
    accepted: 0,
    received: 0,
    nothingMissing: 0,
    failed: { lost: 0, expired: 0, timeout: 0, aborted: 0, rejected: 0, superseded: 0 },
    transferredBytes: 0,
    transferredTokens: 0,
    repeatedReads: 0,
    heartbeats: 0,
  };
  private lastAttempt = 0;
  private nowUs: Micros = NOT_YET;
  private readonly outbox = new Outbox<TargetAction<Id>>();
  private readonly actions: Handlers<TargetAction<Id>>;

  /** @param actions  gets the actions instead of the callers of `handle` */
  constructor(
    private readonly options: TargetOptions,
    actions?: Handlers<TargetAction<Id>>,
  ) {
    const keep = (action: TargetAction<Id>): void => this.outbox.push(action);
    this.actions = actions ?? {
      'send-read': keep,
      'start-transfer': keep,
      'set-share': keep,
      'cancel-transfer': keep,
      'send-read-end': keep,
      'send-heartbeats': keep,
      'send-release': keep,
      'kv-ready': keep,
      'kv-failed': keep,
    };
    this.heartbeats = new Heartbeats(options.lease.heartbeatEveryUs);
    this.isLossless = options.rows !== undefined;
    this.fetches = newRequestTable(options.rows);
    if (!this.isLossless) this.over = new Tombstones(options.lease.leaseUs);
    this.readTries = options.readTries ?? DEFAULT_READ_TRIES;
  }

  get counters(): TargetCounters {
    return this.tally;
  }

  /** The actions that follow from `fact`. */
  handle(fact: TargetFact<Id>): readonly TargetAction<Id>[] {
    deliver(fact, this);
    return this.outbox.take();
  }

  /** Latest time for the next `tick`; undefined when nothing is being fetched. */
  nextWakeUpUs(): Micros | undefined {
    const answer = this.unanswered.earliest()?.dueUs;
    const beat = this.heartbeats.nextUs();
    if (answer === undefined || beat === undefined) return answer ?? beat;
    return Math.min(answer, beat);
  }

  /** All fetches, under names in the order in which their requests were accepted. */
  snapshot(): FetchView<Id>[] {
    return Array.from(this.fetches.values(), (fetch) => viewOfFetch(fetch));
  }

  accepted(fact: Fact<Id, 'accepted'>): void {
    this.advance(fact.nowUs);
    const fetch = this.begin(fact);
    if (fetch === undefined) return;
    this.fetches.set(fetch.requestId, fetch);
    if (this.isLossless) this.sendHeartbeats(fact.source.engineId, [fact.source.requestId]);
    else this.heartbeats.join(fetch, this.nowUs);
  }

  rejected(fact: Fact<Id, 'rejected'>): void {
    this.advance(fact.nowUs);
    const current = this.fetches.get(fact.requestId);
    const fetch = current?.epoch === fact.epoch ? current : this.begin(fact);
    if (fetch !== undefined) this.fail(fetch, 'rejected');
  }

  /**
   * A new fetch; undefined when this run has been here before, or is void and has been reported.
   */
  private begin(run: RunOfFetch<Id>): Fetch<Id> | undefined {
    const { requestId, epoch } = run;
    const current = this.fetches.get(requestId);
    const tombstone = this.over?.find(requestId);
    if (current?.epoch === epoch || isBuried(tombstone, epoch)) return undefined;
    const fetch = new Fetch(run);
    this.tally.accepted += 1;
    const overEpoch = overEpochOf(tombstone);
    if (epoch <= overEpoch || epoch < (current?.epoch ?? -1)) {
      this.fail(fetch, overEpoch === EVERY_EPOCH ? 'aborted' : 'superseded');
      return undefined;
    }
    if (current !== undefined) this.fail(current, 'superseded');
    return fetch;
  }

  reserved(fact: Fact<Id, 'reserved'>): void {
    this.advance(fact.nowUs);
    const fetch = this.fetches.get(fact.requestId);
    if (fetch?.epoch !== fact.epoch || fetch.state !== 'accepted') return;
    this.heartbeats.announced(fetch);
    fetch.missingTokens = fact.missingTokens;
    fetch.missingBlocks = fact.missingBlocks;
    if (fact.missingTokens === 0) {
      this.tally.nothingMissing += 1;
      this.complete(fetch, 0);
      return;
    }
    fetch.state = 'reading';
    this.ask(fetch);
  }

  private ask(fetch: Fetch<Id>): void {
    const { source } = fetch;
    this.lastAttempt += 1;
    fetch.attempt = this.lastAttempt;
    if (fetch.tries === 0) fetch.firstAttempt = fetch.attempt;
    else this.tally.repeatedReads += 1;
    fetch.tries += 1;
    if (!this.isLossless) {
      fetch.question ??= newDeadline(fetch);
      this.unanswered.set(fetch.question, this.nowUs + this.options.answerWithinUs);
    }
    this.actions['send-read']({
      kind: 'send-read',
      to: source.engineId,
      requestId: source.requestId,
      epoch: source.epoch,
      generation: source.generation,
      attempt: fetch.attempt,
      readerRequestId: fetch.requestId,
    });
  }

  /**
   * An answer to any try of the read counts; `expired` also counts during the transfer, when the
   * source had to free the blocks.
   */
  'read-answered'(fact: Fact<Id, 'read-answered'>): void {
    this.advance(fact.nowUs);
    const fetch = this.fetches.get(fact.requestId);
    if (fetch === undefined || fetch.state === 'accepted') return;
    if (fetch.source.engineId !== fact.from) return;
    if (fact.attempt < fetch.firstAttempt || fact.attempt > fetch.attempt) return;
    if (fact.outcome === 'expired') this.fail(fetch, 'expired');
    else if (fetch.state === 'reading') this.startTransfer(fetch, fact);
  }

  private startTransfer(fetch: Fetch<Id>, answer: Fact<Id, 'read-answered'>): void {
    if (fetch.question) clearDeadline(fetch.question);
    fetch.state = 'transferring';
    const { missingTokens, missingBlocks } = fetch;
    fetch.tokens = Math.min(missingTokens, answer.heldTokens);
    fetch.blocks = Math.ceil((missingBlocks * fetch.tokens) / missingTokens);
    fetch.startedUs = this.nowUs;
    this.actions['start-transfer']({
      kind: 'start-transfer',
      requestId: fetch.requestId,
      epoch: fetch.epoch,
      sourceId: fetch.source.engineId,
      blocks: fetch.blocks,
      bytes: this.timedBytesOf(fetch),
      bytesPerSecond: answer.bytesPerSecond,
      sourcePorts: sourcePortsOf(answer, this.options),
      activeReads: answer.activeReads,
    });
  }

  /** Whole blocks are read, also partly filled ones, as in vLLM's NIXL connector. */
  private bytesOf({ blocks }: Fetch<Id>): number {
    return blocks * this.options.bytesPerBlock;
  }

  private timedBytesOf(fetch: Fetch<Id>): number {
    const { isTimedByTokens, bytesPerToken } = this.options;
    return isTimedByTokens === true ? fetch.tokens * bytesPerToken : this.bytesOf(fetch);
  }

  'share-changed'(fact: Fact<Id, 'share-changed'>): void {
    this.advance(fact.nowUs);
    let fetch = this.heartbeats.firstFrom(fact.from);
    while (fetch !== undefined && fetch.state !== 'transferring') fetch = fetch.next;
    if (fetch === undefined) return;
    const { from, activeReads } = fact;
    this.actions['set-share']({ kind: 'set-share', sourceId: from, activeReads });
  }

  'transfer-done'(fact: Fact<Id, 'transfer-done'>): void {
    this.advance(fact.nowUs);
    const fetch = this.fetches.get(fact.requestId);
    if (fetch?.epoch !== fact.epoch || fetch.state !== 'transferring') return;
    this.tally.transferredBytes += this.bytesOf(fetch);
    this.tally.transferredTokens += fetch.tokens;
    this.complete(fetch, this.nowUs - fetch.startedUs);
  }

  private complete(fetch: Fetch<Id>, transferUs: Micros): void {
    this.bury(fetch);
    this.tally.received += 1;
    this.endRead(fetch, 'done');
    this.actions['kv-ready']({
      kind: 'kv-ready',
      requestId: fetch.requestId,
      epoch: fetch.epoch,
      transferredTokens: fetch.tokens,
      transferredBlocks: fetch.blocks,
      transferredBytes: this.bytesOf(fetch),
      transferUs,
    });
  }

  'source-lost'({ engineId, nowUs }: Fact<Id, 'source-lost'>): void {
    this.advance(nowUs);
    for (
      let fetch = this.heartbeats.firstFrom(engineId);
      fetch !== undefined;
      fetch = this.heartbeats.firstFrom(engineId)
    ) {
      this.fail(fetch, 'lost');
    }
  }

  aborted({ requestId, nowUs }: Fact<Id, 'aborted'>): void {
    this.advance(nowUs);
    this.revoke(requestId, EVERY_EPOCH, 'aborted');
  }

  superseded({ requestId, epoch, nowUs }: Fact<Id, 'superseded'>): void {
    this.advance(nowUs);
    this.revoke(requestId, epoch, 'superseded');
  }

  private revoke(requestId: Id, epoch: number, why: 'aborted' | 'superseded'): void {
    this.over?.raise(requestId, epoch, this.nowUs);
    const fetch = this.fetches.get(requestId);
    if (fetch !== undefined && fetch.epoch <= epoch) this.fail(fetch, why);
  }

  tick({ nowUs }: Fact<Id, 'tick'>): void {
    this.advance(nowUs);
    for (
      let question = this.unanswered.earliest();
      question !== undefined && question.dueUs <= this.nowUs;
      question = this.unanswered.earliest()
    ) {
      const fetch = question.owner;
      if (fetch.tries < this.readTries || this.mayBeLate(fetch)) this.ask(fetch);
      else this.fail(fetch, 'timeout');
    }
    this.heartbeats.sendDue(this.nowUs, (to, requestIds) => this.sendHeartbeats(to, requestIds));
  }

  private sendHeartbeats(to: Id, requestIds: readonly Id[]): void {
    this.tally.heartbeats += 1;
    this.actions['send-heartbeats']({ kind: 'send-heartbeats', to, requestIds });
  }

  private advance(nowUs: Micros): void {
    this.nowUs = Math.max(this.nowUs, nowUs);
  }

  private mayBeLate({ source, tries }: Fetch<Id>): boolean {
    return this.options.mayBeLate?.(source.engineId, tries) === true;
  }

  private fail(fetch: Fetch<Id>, why: FetchFailure): void {
    const { requestId, epoch } = fetch;
    this.bury(fetch);
    this.tally.failed[why] += 1;
    if (fetch.state === 'transferring') {
      this.actions['cancel-transfer']({ kind: 'cancel-transfer', requestId, epoch });
    }
    if (fetch.state !== 'accepted' && why !== 'lost' && why !== 'expired') {
      this.endRead(fetch, 'abandoned');
    }
    if (WILL_NOT_BE_READ.has(why)) this.sendRelease(fetch.source);
    this.actions['kv-failed']({ kind: 'kv-failed', requestId, epoch, why });
  }

  private sendRelease(source: SourceName<Id>): void {
    const { engineId, requestId, generation } = source;
    this.actions['send-release']({ kind: 'send-release', to: engineId, requestId, generation });
  }

  private endRead(fetch: Fetch<Id>, outcome: 'done' | 'abandoned'): void {
    const { engineId, requestId, generation } = fetch.source;
    this.actions['send-read-end']({
      kind: 'send-read-end',
      to: engineId,
      requestId,
      generation,
      readerRequestId: fetch.requestId,
      outcome,
    });
  }

  /** Ends a fetch: stops its timers and records its run so that it cannot begin again. */
  private bury(fetch: Fetch<Id>): void {
    if (fetch.question) clearDeadline(fetch.question);
    this.heartbeats.leave(fetch);
    if (this.fetches.get(fetch.requestId) === fetch) this.fetches.delete(fetch.requestId);
    this.over?.bury(fetch.requestId, fetch.epoch, this.nowUs);
  }
}
