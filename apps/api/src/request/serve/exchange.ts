import { speedUpTimers } from '@baton/clock';
import { BatonError, type EndReason, type EngineJob, type ErrorCode } from '@baton/contract';
import type { AnswerHead, FinishedSequence, GenerationRequest } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import type { Aborter } from '../../frames/aborter';
import type { Sequence, SequenceOwner } from '../../sequences/sequence';
import type { SequenceTable } from '../../sequences/sequence-table';
import type { Observers } from '../../observers/port/observers';
import type { ObservedRequest, RequestEnd, SequenceNote } from '../../observers/port/port';
import type { Admission } from '../admit/admission';
import type { AdmissionGate } from '../admit/admission-gate';
import type { Answer, AnswerFacts } from '../answer/answer';
import type { HeldAs } from '../../routers/legs';
import { sessionKeyOf } from '../route/session-key';
import { sequenceFailure } from './failure';

type Call = Admission['call'];
type KvParams = NonNullable<AnswerFacts['kvTransferParams']>;

/** The parts that all exchanges use. */
export interface ExchangeHost {
  readonly table: SequenceTable;
  readonly gate: AdmissionGate;
  readonly aborter: Aborter;
  readonly observers: Observers;
}

export interface ExchangeParts {
  readonly call: Call;
  readonly head: AnswerHead;
  readonly request: GenerationRequest;
  /** One per sequence, as are the jobs. */
  readonly plans: readonly OutputPlan[];
  /** Set for the prefill leg of an outside router. May be called more than once. */
  readonly heldAs?: HeldAs | undefined;
  readonly jobs: readonly EngineJob[];
  readonly answer: Answer;
}

/**
 * One client request: its sequences and its answer. It passes tokens from the sequences to the
 * answer, ends the answer with the last sequence, and ends all sequences together on any failure.
 * The frame inbox, the recovery and the client's connection drive it.
 */
export class Exchange implements SequenceOwner, ObservedRequest {
  isDirty = false;
  readonly sequences: readonly Sequence[];
  readonly call: Call;
  readonly head: AnswerHead;
  readonly id: string;
  readonly model: string;
  readonly generation: GenerationRequest;
  private readonly answer: Answer;
  private unfinished: number;
  private isOver = false;

  constructor(
    private readonly host: ExchangeHost,
    private readonly parts: ExchangeParts,
  ) {
    const { call, head, request, jobs, answer } = parts;
    this.call = call;
    this.head = head;
    this.id = head.id;
    this.model = head.model;
    this.generation = request;
    this.answer = answer;
    speedUpTimers();
    const nowMs = performance.now();
    this.sequences = jobs.map((job, index) => host.table.open(this, { index, job, nowMs }));
    this.unfinished = jobs.length;
  }

  get endpoint(): string {
    return (this.call.response.req.url ?? '').split('?', 1)[0] ?? '';
  }

  get sessionKey(): number | undefined {
    return sessionKeyOf(this.call);
  }

  /** Prompt tokens, and the output tokens so far. */
  get usedTokens(): number {
    const prompt = this.generation.prompts.reduce((sum, { ids }) => sum + ids.length, 0);
    return this.sequences.reduce((sum, { received }) => sum + received, prompt);
  }

  /** True for the client's names of the request: the id of the answer or of the request. */
  isNamed(name: string): boolean {
    return name === this.id || name === this.call.requestId;
  }

  /** The broker has the jobs. */
  openAnswer(): void {
    if (!this.isOver) this.answer.open();
  }

  onNote(sequence: Sequence, { waitsIn }: SequenceNote): void {
    this.host.gate.moved(sequence, waitsIn);
  }

  onTokens(sequence: Sequence, from: number): void {
    if (this.isOver) return;
    this.host.gate.moved(sequence, undefined);
    if (sequence.hasPayloads) this.passPayloads(sequence);
    this.answer.tokens(sequence.index, from, sequence.received - from);
  }

  onEnd(sequence: Sequence, from: number): void {
    if (this.isOver) return;
    const reason = sequence.endReason ?? 'stop';
    if (sequence.hasPayloads) this.passPayloads(sequence);
    const span = { index: sequence.index, from, count: sequence.received - from };
    this.answer.endSequence(span, reason);
    this.unfinished -= 1;
    this.endSequence(sequence, reason);
  }

  onFailure(sequence: Sequence, errorCode: ErrorCode): void {
    this.fail(sequenceFailure(sequence, errorCode));
  }

  flush(): void {
    if (this.isOver) return;
    try {
      this.write();
    } catch (error) {
      // The client would wait for ever.
      const failure = new BatonError('engine_error');
      this.endRequest({ reason: 'error', error: failure.code });
      this.answer.fail(failure);
      throw error;
    }
  }

  /** Ends everything with one error to the client. Idempotent. */
  fail(error: BatonError): void {
    if (this.isOver) return;
    this.endRequest({ reason: 'error', error: error.code });
    this.answer.fail(error);
  }

  /** Ends the request early: the client gets the output so far, with the finish reason `abort`. */
  abort(): void {
    if (this.isOver) return;
    for (const { index, received, isOver } of this.sequences) {
      if (!isOver) this.answer.endSequence({ index, from: received, count: 0 }, 'abort');
    }
    this.endRequest({ reason: 'abort' });
    this.answer.complete({ cachedTokens: this.cachedTokens, kvTransferParams: undefined });
  }

  /** The client's connection closed. */
  clientLeft(): void {
    this.endRequest({ reason: 'abort' });
  }

  hangUpOnSlowReader(): void {
    this.endRequest({ reason: 'abort', isSlowReader: true });
    this.call.response.destroy();
  }

  private write(): void {
    if (this.unfinished === 0) this.completeAnswer();
    else {
      this.answer.flush();
      if (this.answer.isOverfull) this.hangUpOnSlowReader();
    }
  }

  private completeAnswer(): void {
    const tail = this.sequences[0]?.tail;
    const held = tail === undefined ? undefined : paramsOf(tail);
    const { heldAs } = this.parts;
    const shown = heldAs === undefined ? { kvTransferParams: held } : heldAs(held, this.results());
    this.endRequest({ reason: 'stop' });
    this.answer.complete({ cachedTokens: this.cachedTokens, ...shown });
  }

  private results(): FinishedSequence[] {
    return this.sequences.map(({ received, endReason = 'abort' }, index) => {
      return { plan: this.parts.plans[index]!, reason: endReason, count: received };
    });
  }

  private passPayloads(sequence: Sequence): void {
    for (const payload of sequence.takePayloads()) this.answer.executed?.(payload);
  }

  /**
   * The cached tokens of the first choice of each prompt. A prompt counts once, however many
   * choices it has, as in vLLM's streams (`serve/chat/serving.py` keeps those of the first result).
   */
  private get cachedTokens(): number {
    const { choices } = this.generation;
    let sum = 0;
    for (const { index, cachedTokens } of this.sequences) {
      if (index % choices === 0) sum += cachedTokens;
    }
    return sum;
  }

  /** Releases all sequences; those that still run are aborted in the cluster. Idempotent. */
  private endRequest({ reason, error, isSlowReader = false }: EarlyEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    if (reason !== 'stop') this.parts.heldAs?.(undefined, this.results());
    const orphans: string[] = [];
    for (const sequence of this.sequences) {
      if (isDone(sequence.endReason)) continue;
      this.endSequence(sequence, reason, error);
      if (sequence.endReason === undefined) orphans.push(sequence.job.requestId);
    }
    this.host.observers.closed(this, { reason, error, isSlowReader });
    if (orphans.length > 0) this.host.aborter.abort(orphans);
  }

  private endSequence(sequence: Sequence, reason: EndReason, error?: ErrorCode): void {
    const { observers, gate, table } = this.host;
    observers.ended(sequence, { reason, error }, this);
    gate.moved(sequence, undefined);
    table.release(sequence);
  }
}

type EarlyEnd = Omit<RequestEnd, 'isSlowReader'> & Partial<RequestEnd>;

function isDone(endReason: Sequence['endReason']): boolean {
  return endReason !== undefined && endReason !== 'abort' && endReason !== 'error';
}

function paramsOf(tail: string): KvParams | undefined {
  const parsed: unknown = JSON.parse(tail);
  return typeof parsed === 'object' && parsed !== null ? (parsed as KvParams) : undefined;
}
