import type { BenchmarkRecord, Lateness } from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import { isFirst, type Workload } from '@baton/workload';
import type { Ending, HttpStreams } from './http-stream';
import { LatenessMeter } from './lateness';
import type { ReceivedAnswer } from './protocol/answer';
import type { Protocol } from './protocol/protocol';
import { Recorder, type RequestDetail } from './recorder';

/**
 * Maximum number of requests sent before the event loop turns, so that a burst does not delay the
 * stamps of the first answers.
 */
const PER_TURN = 8;

export interface LoadOptions {
  /**
   * The requests and their instants. A request that waits for another is due a pause after its end.
   */
  readonly workload: Workload;
  /** The connections to the server. They stay open after the run. */
  readonly streams: HttpStreams;
  /** Body of a request, called once, shortly before it is sent. */
  bodyOf(row: number): string;
  /** The destination of a request, if it differs from the target's. */
  placeOf?(row: number): { readonly path: string; readonly protocol: Protocol } | undefined;
  /** Additional headers of a request, if any. */
  headersOf?(row: number): Readonly<Record<string, string>>;
  /** True when the text of the answer is kept. */
  keepsText(row: number): boolean;
  /**
   * Gets the text of a whole answer, before the bodies of the requests that wait for it are made.
   */
  onText?(row: number, text: string): void;
  /** Maximum number of requests under way. */
  readonly maxConcurrency: number;
  /** Time limit of one request, ms. */
  readonly deadlineMs: number;
  /** True: keeps gaps, text and error of each request. */
  readonly keepsDetails: boolean;
  /** Prefix of `x-request-id`, followed by the number of the request. */
  readonly idPrefix: string;
  /** Ends the run: requests under way are abandoned and stay unfinished. */
  readonly signal?: AbortSignal;
  /** Gets the number of requests that have ended so far. */
  onProgress?(ended: number): void;
}

export interface LoadRecord {
  readonly run: BenchmarkRecord;
  /** By row; undefined when not configured. */
  readonly details: readonly RequestDetail[] | undefined;
  readonly wasInterrupted: boolean;
}

/**
 * Sends a workload to a server at its instants, whether or not earlier requests have been answered,
 * and records the answers.
 */
export function runLoad(options: LoadOptions): Promise<LoadRecord> {
  return new LoadRun(options).run();
}

const NOTHING_TO_GIVE_UP = (): void => undefined;

interface Due {
  readonly row: number;
  readonly dueMs: number;
}

class LoadRun {
  private readonly meter = new LatenessMeter();
  private readonly followers: ReadonlyMap<number, readonly number[]>;
  private readonly ready = new Waiting();
  private readonly inFlight = new Map<number, () => void>();
  private readonly pauses = new Set<NodeJS.Timeout>();
  private readonly bodies = new Map<number, string>();
  private recorder: Recorder;
  private startMs = 0;
  /** First row that waits for no other and is not due yet. */
  private next = 0;
  private ended = 0;
  /** True when due requests had to wait for a slot. */
  private isBlocked = false;
  private isOver = false;
  private timer: NodeJS.Timeout | undefined;
  private turn: NodeJS.Immediate | undefined;
  private resolveRun: () => void = () => undefined;

  constructor(private readonly options: LoadOptions) {
    this.followers = followersOf(options.workload);
    this.recorder = new Recorder(options.workload, 0, false);
  }

  async run(): Promise<LoadRecord> {
    const { workload, keepsDetails, signal } = this.options;
    const over = new Promise<void>((resolve) => (this.resolveRun = resolve));
    this.next = this.firstFrom(0);
    this.prepareNext();
    this.startMs = performance.now();
    this.recorder = new Recorder(workload, this.startMs, keepsDetails);
    this.meter.start();
    const interrupt = (): void => this.endRun();
    signal?.addEventListener('abort', interrupt);
    if (signal?.aborted === true || workload.count === 0) this.endRun();
    else this.sendDue();
    await over;
    signal?.removeEventListener('abort', interrupt);
    const endMs = performance.now();
    return this.record(endMs, this.meter.take());
  }

  private record(endMs: number, lateness: Lateness): LoadRecord {
    const { recorder, options } = this;
    return {
      run: recorder.take(endMs, lateness),
      details: recorder.details,
      wasInterrupted: this.ended < options.workload.count,
    };
  }

  /**
   * Sends due requests within the limits of slots and of this turn, and schedules its next call.
   */
  private sendDue(): void {
    this.takeDue(performance.now());
    for (let sent = 0; this.ready.length > 0 && !this.isOver; sent++) {
      if (this.inFlight.size >= this.options.maxConcurrency) {
        this.isBlocked = true;
        break;
      }
      if (sent === PER_TURN) {
        this.pumpSoon();
        return;
      }
      this.send(this.ready.take());
    }
    if (this.ready.length === 0) this.isBlocked = false;
    this.sleep();
  }

  private takeDue(nowMs: number): void {
    const { arrivalUs, count } = this.options.workload;
    while (this.next < count) {
      const dueMs = this.startMs + usToMs(arrivalUs[this.next]!);
      if (dueMs > nowMs) return;
      this.ready.push({ row: this.next, dueMs });
      this.next = this.firstFrom(this.next + 1);
    }
  }

  private send({ row, dueMs }: Due): void {
    const { options, recorder } = this;
    const body = this.bodies.get(row) ?? options.bodyOf(row);
    this.bodies.delete(row);
    const sentMs = performance.now();
    if (dueMs > this.startMs && !this.isBlocked) this.meter.sentLate(sentMs - dueMs);
    recorder.sent(row, sentMs);
    this.inFlight.set(row, NOTHING_TO_GIVE_UP);
    const giveUp = options.streams.send({
      id: `${options.idPrefix}${row}`,
      body,
      to: options.placeOf?.(row),
      headers: options.headersOf?.(row),
      keepsText: options.keepsText(row),
      deadlineMs: options.deadlineMs,
      onEnd: (answer, ending) => this.onEnd(row, answer, ending),
    });
    // The request can have ended already, when no connection was possible.
    if (this.inFlight.has(row)) this.inFlight.set(row, giveUp);
  }

  private onEnd(row: number, answer: ReceivedAnswer, ending: Ending): void {
    const { options, recorder } = this;
    this.inFlight.delete(row);
    recorder.endRequest(row, answer, ending);
    if (ending.kind === 'aborted') return;
    if (ending.kind === 'whole' && options.keepsText(row)) options.onText?.(row, answer.text);
    this.count();
    this.wakeFollowers(row, ending);
    if (!this.isOver) this.pumpSoon();
  }

  private wakeFollowers(row: number, ending: Ending): void {
    for (const follower of this.followers.get(row) ?? []) {
      if (ending.kind !== 'whole') {
        this.recorder.failed(follower, 'turn_before_failed', 'an earlier turn failed; not sent');
        this.count();
        this.wakeFollowers(follower, ending);
        continue;
      }
      const pauseMs = usToMs(this.options.workload.arrivalUs[follower]!);
      const dueMs = performance.now() + pauseMs;
      const pause = setTimeout(() => {
        this.pauses.delete(pause);
        this.ready.push({ row: follower, dueMs });
        this.sendDue();
      }, pauseMs);
      this.pauses.add(pause);
    }
  }

  private count(): void {
    this.ended += 1;
    this.options.onProgress?.(this.ended);
    if (this.ended === this.options.workload.count) this.endRun();
  }

  /** Waits until the next request is due, and meanwhile makes its body. */
  private sleep(): void {
    const { arrivalUs, count } = this.options.workload;
    clearTimeout(this.timer);
    if (this.isOver || this.next >= count) return;
    this.prepareNext();
    const dueMs = this.startMs + usToMs(arrivalUs[this.next]!);
    this.timer = setTimeout(() => this.sendDue(), dueMs - performance.now());
  }

  private prepareNext(): void {
    if (this.next >= this.options.workload.count || this.bodies.has(this.next)) return;
    this.bodies.set(this.next, this.options.bodyOf(this.next));
  }

  /** A connection is free for the next request only after the turn in which its answer ended. */
  private pumpSoon(): void {
    this.turn ??= setImmediate(() => {
      this.turn = undefined;
      if (!this.isOver) this.sendDue();
    });
  }

  private firstFrom(row: number): number {
    const { workload } = this.options;
    let first = row;
    while (first < workload.count && !isFirst(workload, first)) first += 1;
    return first;
  }

  private endRun(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    for (const pause of this.pauses) clearTimeout(pause);
    for (const giveUp of [...this.inFlight.values()]) giveUp();
    this.resolveRun();
  }
}

/** Requests that are due and not sent, first come, first served. */
class Waiting {
  private items: Due[] = [];
  private taken = 0;

  get length(): number {
    return this.items.length - this.taken;
  }

  push(due: Due): void {
    this.items.push(due);
  }

  take(): Due {
    const due = this.items[this.taken++]!;
    if (this.taken > 1_024 && this.taken * 2 > this.items.length) {
      this.items = this.items.slice(this.taken);
      this.taken = 0;
    }
    return due;
  }
}

/** The rows that wait for each row. */
function followersOf({ after }: Workload): ReadonlyMap<number, readonly number[]> {
  const followers = new Map<number, number[]>();
  for (let row = 0; row < after.length; row++) {
    const before = after[row]!;
    if (before === -1) continue;
    const known = followers.get(before);
    if (known === undefined) followers.set(before, [row]);
    else known.push(row);
  }
  return followers;
}
