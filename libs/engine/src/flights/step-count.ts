import { truncate } from '@baton/kernel';
import type { FlightParts } from './batch-queue';
import { type Flight, JOINED, RESUMED } from './flight';
import type { SequenceHandle } from '../port/engine-port';
import type { EngineSequence } from '../sequence';

/**
 * The tokens of a step: counted when it ends, or with async scheduling when it begins, because the
 * next batch of its decode set is formed before it ends. They are reported when it has ended.
 *
 * With async scheduling a sequence that ends by its limit is left out of that next batch. One that
 * stops, or that ends within a burst, still has a row there, whose output is dropped. Both keep
 * their slot and blocks until the last step has ended.
 */
export class StepCount {
  /** Sequences that get their first token with the step. */
  private readonly firsts: EngineSequence[] = [];
  /** Sequences that end with the step, which the next batch may have been formed with. */
  readonly stopping: EngineSequence[] = [];
  /** Sequences of these that ended as prompts to be held. */
  readonly held: EngineSequence[] = [];
  private readonly decode: FlightParts['decode'];
  private readonly speculation: FlightParts['speculation'];
  private readonly accounts: FlightParts['accounts'];
  private readonly record: FlightParts['record'];
  private readonly scheduler: FlightParts['scheduler'];
  private readonly blocks: FlightParts['blocks'];
  private readonly queue: FlightParts['queue'];

  constructor(parts: FlightParts) {
    this.decode = parts.decode;
    this.speculation = parts.speculation;
    this.accounts = parts.accounts;
    this.record = parts.record;
    this.scheduler = parts.scheduler;
    this.blocks = parts.blocks;
    this.queue = parts.queue;
  }

  clear(): void {
    const { firsts, stopping, held } = this;
    if (firsts.length + stopping.length + held.length === 0) return;
    truncate(firsts, 0);
    truncate(stopping, 0);
    truncate(held, 0);
  }

  /** Counts the step of this batch, whose decode set is the current one. */
  count(flight: Flight): void {
    const { decode, speculation, accounts } = this;
    decode.current.advance();
    speculation?.giveBursts(decode.current, accounts);
    if (flight.news.length > 0) this.countNews(flight);
    this.takeEnded();
  }

  /** Tokens of the step; call it when the step ends. */
  tokens(): number {
    const { record, scheduler, speculation } = this;
    let tokens = record.countOfEmitting();
    if (speculation !== undefined) tokens += record.tokensBesideOne();
    for (const { mode } of scheduler.batch.ending) tokens += mode === 'prefill-and-hold' ? 0 : 1;
    return tokens;
  }

  /** Records each sequence that got its first token with the step and is still in the engine. */
  noteFirstTokens(firstTokens: SequenceHandle[]): void {
    for (const seq of this.firsts) if (!hasEnded(seq)) firstTokens.push(seq.handle);
  }

  /**
   * A sequence that ended with the step, out of the batch. In order of admission, in which vLLM
   * frees their blocks.
   */
  nextFinished(): EngineSequence | undefined {
    const { batch } = this.scheduler;
    const first = batch.ending[0];
    const stopped = this.nextStopping();
    if (first === undefined || (stopped !== undefined && stopped.rank < first.rank)) {
      if (stopped === undefined) return this.nextDeparted();
      this.stopping.shift();
      batch.drop(stopped);
      return stopped;
    }
    batch.drop(first);
    if (first.mode !== 'prefill-and-hold') return first;
    this.held.push(first);
    return this.nextFinished();
  }

  /** Tokens of a sequence that are counted and come with the step under way. */
  tokensInFlight(seq: EngineSequence): number {
    const { record, scheduler, decode } = this;
    if (record.departed.includes(seq)) return 1 + seq.burst;
    if (seq.state === 'ending') return seq.mode === 'prefill-and-hold' ? 0 : 1;
    const isMember = seq.state === 'decoding' && decode.of(seq) === decode.current;
    const isBefore = seq.state === 'stalled' || isMember;
    return isBefore && !scheduler.batch.joined.includes(seq) ? 1 + seq.burst : 0;
  }

  /** Counts the chunks of a step that has ended. */
  countChunks({ news, ranks, reached }: Flight): void {
    const { blocks, accounts } = this;
    for (let i = 0; i < news.length; i++) {
      const seq = news[i]!;
      if (reached[i]! <= 0 || hasEnded(seq) || seq.rank !== ranks[i]) continue;
      accounts.computed(seq, reached[i]!);
      const isWhole = reached[i]! >= seq.promptTokens;
      if (blocks.isShared && isWhole) blocks.keep(seq, reached[i]!);
      seq.inFlight = seq.state === 'prefilling' ? seq.computed - reached[i]! : 0;
    }
  }

  /**
   * Handles what is new in the batch: first tokens, and prompts that end with the step, whose
   * sequences decode in the next batch.
   */
  countNews({ news, ranks, reached }: Flight): void {
    const { prefilling } = this.scheduler.batch;
    let hasEnds = false;
    for (let i = 0; i < news.length; i++) {
      const seq = news[i]!;
      // One that was aborted since the batch was formed may be another sequence by now.
      if (seq.rank !== ranks[i] || !seq.isRunning) continue;
      if (reached[i] === JOINED) this.firsts.push(seq);
      else if (reached[i] === RESUMED) this.resume(seq);
      else if (seq.state === 'prefilling' && reached[i]! >= seq.targetTokens) {
        this.endPrompt(seq);
        hasEnds = true;
      }
    }
    if (!hasEnds) return;
    let count = 0;
    for (const seq of prefilling) if (seq.state === 'prefilling') prefilling[count++] = seq;
    truncate(prefilling, count);
  }

  /** It gets a token again. With drafts its burst says so. */
  private resume(seq: EngineSequence): void {
    if (this.speculation === undefined && seq.state === 'decoding') seq.burst = 0;
  }

  private endPrompt(seq: EngineSequence): void {
    if (seq.mode === 'prefill-and-hold') {
      this.keep(seq);
      return;
    }
    seq.emitted++;
    seq.burst = 0;
    if (seq.emitted === 1) this.firsts.push(seq);
    this.decode.current.join(seq);
    seq.drafts = seq.padding;
    seq.padding = 0;
  }

  /** Members that get their last token with the step. */
  private takeEnded(): void {
    const { scheduler, decode } = this;
    const { current } = decode;
    for (let seq = current.takeFinished(); seq !== undefined; seq = current.takeFinished()) {
      // The number of accepted drafts of the step is not known yet.
      if (seq.endsByLimit && seq.burst === 0) {
        current.leave(seq);
        this.keep(seq);
        scheduler.touch();
      } else {
        current.linger(seq);
        this.stopping.push(seq);
      }
    }
  }

  private keep(seq: EngineSequence): void {
    seq.state = 'ending';
    this.scheduler.batch.ending.push(seq);
  }

  private nextStopping(): EngineSequence | undefined {
    const { stopping } = this;
    while (stopping.length > 0 && !isHere(stopping[0]!)) stopping.shift();
    return stopping[0];
  }

  /** Ends a sequence that was preempted after the step of its last token had begun. */
  private nextDeparted(): EngineSequence | undefined {
    const { record, queue } = this;
    if (record.departed.length === 0) return undefined;
    const seq = record.departed.find(isOver);
    if (seq !== undefined) queue.remove(seq);
    return seq;
  }
}

/** False for an aborted sequence, which is no longer in the engine, and for a preempted one. */
function isHere({ state }: EngineSequence): boolean {
  return state === 'decoding' || state === 'stalled';
}

function isOver({ state, emitted, outputTokens }: EngineSequence): boolean {
  return state === 'waiting' && emitted === outputTokens;
}

/** True when the sequence was aborted. */
function hasEnded({ state }: EngineSequence): boolean {
  return state === 'gone' || state === 'leaving';
}
