import {
  type EndReason,
  type EngineJob,
  type Epoch,
  ERRORS,
  type ErrorCode,
  type FaultNote,
  type FrameEntry,
  type FrameHeader,
  packEpoch,
  type Stage,
  submissionOf,
  type UpstreamFailure,
} from '@baton/contract';
import { entryQueue } from '@baton/engine-host';
import type { QueueName } from '@baton/transport';
import type { ObservedSequence, SequenceNote } from '../observers/port/port';
import { History } from './history';

/** The effect of one frame entry on a sequence. */
export type Verdict =
  /** The entry is from an older run or for an ended sequence: the caller drops it. */
  | 'stale'
  /** Nothing for the client. */
  | 'noted'
  /** `received` grew. */
  | 'advanced'
  /** Earlier tokens are missing: none was accepted. */
  | 'gap'
  /** The sequence has ended with `endReason`; `received` can have grown. */
  | 'ended'
  /** Over, with `errorCode`. */
  | 'failed';

/** Shows the tokens of a sequence to a client, and counts where the sequence waits. */
export interface SequenceOwner {
  /** The sequence moved on in the cluster. */
  onNote(sequence: Sequence, note: SequenceNote): void;
  /** Tokens `[from, sequence.received)` are new. */
  onTokens(sequence: Sequence, from: number): void;
  /** The last tokens `[from, sequence.received)` and the end in one. */
  onEnd(sequence: Sequence, from: number): void;
  onFailure(sequence: Sequence, errorCode: ErrorCode): void;
  /** All entries of a frame are in: write now. */
  flush(): void;
  /** True between the first entry of a frame and `flush`. */
  isDirty: boolean;
}

/**
 * One prompt and choice on its way through the cluster, as the API sees it: its tokens so far,
 * their run, and the times of its events. Only this class interprets frame entries. It never
 * writes, never waits and reads no clock: the caller gives the time.
 */
export class Sequence implements ObservedSequence {
  /** Instants and places of its events. */
  readonly history: History;
  /** Tokens delivered so far: the index of the next one. */
  received = 0;
  /** Highest run seen. */
  epoch: Epoch = 0;
  /** The newest submission of this API. */
  submission: number;
  endReason: EndReason | undefined;
  errorCode: ErrorCode | undefined;
  /** Payload of the end entry: kv_transfer_params of a held prompt. */
  tail: string | undefined;
  /**
   * Prompt tokens that the cluster did not compute: local prefix cache of the first stage, as vLLM
   * counts them.
   */
  cachedTokens = 0;
  /** The queue that last took its first job. */
  queue: QueueName;
  /** The stage that counts it as waiting in its queue. */
  waitingIn: Stage | undefined;
  /** Instants in ms of `performance.now()`. */
  heardMs: number;
  inspectedMs: number;
  /** Time at which the current gap was found; undefined without a gap. */
  gapMs: number | undefined;
  resends = 0;
  resentMs = -Infinity;
  /** Unanswered requests in a row for a sign of life from the engine of record. */
  unanswered = 0;
  /** Resubmissions because the broker seems to have lost the job, since the last sign of life. */
  revivals = 0;
  /** Engine that spoke last. */
  engineId: string | undefined;
  isOver = false;
  /** The rule of the injected error that an engine carried out. */
  struckRule: string | undefined;
  /** What executing stages read from the broker; kept here because the broker can lose it. */
  executedRequest: Buffer | undefined;
  /** An upstream server's error that ended the request. */
  upstreamFailure: UpstreamFailure | undefined;
  /** True when the upstream server has sent payloads that are not shown yet. */
  hasPayloads = false;
  private payloads: string[] = [];
  private shownEpoch: Epoch = 0;

  constructor(
    /** Place of the sequence in its answer. */
    readonly index: number,
    readonly job: EngineJob,
    readonly owner: SequenceOwner,
    nowMs: number,
  ) {
    this.history = new History(job.arrivalUs, job.flow);
    this.submission = job.submission;
    this.queue = entryQueue(job);
    this.heardMs = nowMs;
    this.inspectedMs = nowMs;
  }

  get streamId(): number {
    return this.job.streamId;
  }

  /** @param nowMs  when the frame came, ms of `performance.now()` */
  accept(entry: Readonly<FrameEntry>, header: FrameHeader, nowMs: number): Verdict {
    if (this.isOver || entry.epoch < this.epoch) return 'stale';
    this.epoch = entry.epoch;
    this.heardMs = nowMs;
    this.unanswered = 0;
    this.engineId = header.engineId;
    const before = this.received;
    const verdict = this.take(entry, nowMs);
    if (this.received > before) {
      this.history.tokensCame(nowMs, header.stepEndUs + entry.offsetUs, before === 0);
    }
    return verdict;
  }

  private take(entry: Readonly<FrameEntry>, nowMs: number): Verdict {
    switch (entry.kind) {
      case 'tokens':
        if (this.job.executes === true) return this.execute(entry, nowMs);
        return this.advance(entry.first, entry.count, nowMs);
      case 'end':
        return this.acceptEnd(entry, nowMs);
      case 'scheduled':
      case 'handed-over':
      case 'restarted':
      case 'fault':
        this.revivals = 0;
        return 'noted';
    }
  }

  /** The event of an accepted entry other than tokens and the end; undefined when there is none. */
  note(entry: Readonly<FrameEntry>, header: FrameHeader): SequenceNote | undefined {
    switch (entry.kind) {
      case 'scheduled':
        this.countCached(entry, header);
        return this.history.scheduled(entry, header);
      case 'handed-over':
        return this.history.handedOver(entry, header);
      case 'restarted':
        return this.history.restarted(header);
      default:
        return undefined;
    }
  }

  /** An engine carried out a fault on this sequence. */
  noteFault({ fault, rule }: FaultNote): void {
    if (fault === 'error') this.struckRule = rule;
  }

  takePayloads(): readonly string[] {
    const { payloads } = this;
    this.payloads = [];
    this.hasPayloads = false;
    return payloads;
  }

  /** The ledger's record, used when frames were lost: all `tokens` are there. */
  conclude(reason: EndReason, tokens: number, errorCode: string | undefined): Verdict {
    if (this.isOver) return 'stale';
    if (reason === 'error' || reason === 'abort') return this.fail(errorCodeOf(errorCode));
    // A server's payload is lost when no frame brought it.
    if (this.job.executes === true && this.received < tokens) return this.fail('upstream_lost');
    this.received = Math.max(this.received, tokens);
    return this.endFor(reason);
  }

  /** Records a new submission: from now on only its runs count. */
  resubmitted(nowMs: number): number {
    this.submission = Math.max(this.submission, submissionOf(this.epoch)) + 1;
    this.epoch = packEpoch(this.submission, 0);
    this.heardMs = nowMs;
    this.gapMs = undefined;
    this.unanswered = 0;
    return this.submission;
  }

  /** Records a pause of this process: missing frames of that time do not count as silence. */
  grant(pausedMs: number, nowMs: number): void {
    this.heardMs = Math.min(nowMs, this.heardMs + pausedMs);
    this.inspectedMs = Math.min(nowMs, this.inspectedMs + pausedMs);
    if (this.gapMs !== undefined) this.gapMs = Math.min(nowMs, this.gapMs + pausedMs);
  }

  /**
   * Counts the prompt of a routed request where it was computed; cache hits on decode repeat the
   * transferred tokens.
   */
  private countCached({ extra, count }: Readonly<FrameEntry>, { stage }: FrameHeader): void {
    if (stage === 'decode' && this.job.flow === 'route') return;
    this.cachedTokens = extra + count;
  }

  private advance(first: number, count: number, nowMs: number): Verdict {
    if (first > this.received) return this.missing(nowMs);
    const end = first + count;
    if (end <= this.received) return 'noted';
    this.received = end;
    this.gapMs = undefined;
    this.resends = 0;
    this.revivals = 0;
    return 'advanced';
  }

  /** A server's payload is shown once, so another run may continue only when none was shown. */
  private execute({ first, count, tail, epoch }: Readonly<FrameEntry>, nowMs: number): Verdict {
    if (count === 0 || first > this.received || tail === undefined) {
      return this.advance(first, 0, nowMs);
    }
    if (this.received > 0 && epoch > this.shownEpoch) return this.fail('upstream_lost');
    if (first < this.received) return 'noted';
    this.shownEpoch = epoch;
    this.payloads.push(tail);
    this.hasPayloads = true;
    return this.advance(first, 1, nowMs);
  }

  private acceptEnd(entry: Readonly<FrameEntry>, nowMs: number): Verdict {
    if (entry.reason === 'error' || entry.reason === 'abort') {
      this.upstreamFailure = failureIn(entry.tail);
      return this.fail(this.upstreamFailure?.code ?? errorCodeOf(entry.tail));
    }
    const total = entry.first;
    if (this.advance(total - entry.count, entry.count, nowMs) === 'gap') return 'gap';
    this.tail = entry.tail;
    return this.endFor(entry.reason === 'none' ? 'stop' : entry.reason);
  }

  private endFor(reason: EndReason): Verdict {
    this.endReason = reason;
    this.isOver = true;
    return 'ended';
  }

  private fail(errorCode: ErrorCode): Verdict {
    this.endReason = 'error';
    this.errorCode = errorCode;
    this.isOver = true;
    return 'failed';
  }

  private missing(nowMs: number): Verdict {
    this.gapMs ??= nowMs;
    return 'gap';
  }
}

function failureIn(tail: string | undefined): UpstreamFailure | undefined {
  return tail?.startsWith('{') === true ? (JSON.parse(tail) as UpstreamFailure) : undefined;
}

/** An error code of the catalogue, plain or as JSON; any other text is the engine's own failure. */
function errorCodeOf(text: string | undefined): ErrorCode {
  const code = text?.replaceAll('"', '') ?? '';
  return Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'engine_error';
}
