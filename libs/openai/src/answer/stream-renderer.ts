import type { EndReason } from '@baton/contract';
import { assert } from '@baton/kernel';
import { asciiJson, escapeJson, type OutputPlan, rawIds, type RawJson } from '@baton/text';
import type { GenerationRequest, Prompt } from '../generation-request';
import type { AnswerOptions } from './answer-head';
import { callId } from './call-id';
import { DeltaWriter } from './delta-json';
import { finishReasonOf } from './finish-reason';
import { LogprobsWriter, type ScoredToken } from './logprobs-json';
import { ReportedTokens, reasoningTokens } from './reported-tokens';
import { SegmentDeltas } from './segment-deltas';
import type { ChunkFacts, FinishFacts, StreamShape } from './stream-shape';
import { runningUsageJson } from './usage';
import { VisibleText } from './visible-text';

export interface StreamedSequence {
  readonly index: number;
  readonly prompt: Prompt;
  readonly plan: OutputPlan;
  readonly answerId: string;
}

/** Stands for the text while the constant parts of a frame are cut out. No text contains it. */
const HOLE = '\u0000';

/**
 * Turns the tokens of one sequence into frames, in order and without repeats. It records which
 * tokens the client has. A sequence whose chunks differ only in their text has two constant strings
 * with the text between.
 */
export class StreamRenderer {
  private readonly text: VisibleText;
  private readonly logprobs: LogprobsWriter | undefined;
  private readonly frame: readonly [string, string] | undefined;
  private hasBegun = false;
  /** Index of the first token that no frame has reported yet. */
  private firstUnshown = 0;
  private textOffset = 0;
  private received = 0;
  private readonly isChat: boolean;
  /** Set for an answer with parts other than content. */
  private readonly parts: SegmentDeltas | undefined;

  constructor(
    private readonly request: GenerationRequest,
    private readonly sequence: StreamedSequence,
    private readonly shape: StreamShape,
    private readonly options: AnswerOptions,
  ) {
    const { plan, prompt } = sequence;
    this.isChat = request.endpoint === 'chat';
    this.text = new VisibleText(options.tokenizer, plan, prompt.hidesOutput);
    if (request.logprobs !== undefined) {
      this.logprobs = new LogprobsWriter(options.tokenizer, request.logprobs, request.tokensAsIds);
    }
    this.parts = plan.segments === undefined ? undefined : this.segmentDeltas();
    this.frame = this.constantFrame();
  }

  /** Tokens received so far; after the end, the number in `usage`. */
  get completionTokens(): number {
    return this.received;
  }

  get reasoningTokens(): number {
    return reasoningTokens(this.sequence.plan, this.received);
  }

  /** The frame that opens a chat answer. Empty for completions. */
  role(): string {
    if (!this.isChat) return '';
    const { ids } = this.sequence.prompt;
    const promptTokenIds = this.request.returnTokenIds ? rawIds(ids) : undefined;
    const promptText = this.request.returnPromptText
      ? asciiJson(this.options.tokenizer.decode(ids))
      : undefined;
    const facts = { promptTokenIds, promptText, usage: this.usage() };
    return this.shape.role(this.sequence.index, facts);
  }

  /** The echoed message of a chat answer. A completion's echo comes with its first text. */
  echo(): string {
    const { echoText } = this.sequence.prompt;
    if (!this.isChat || echoText === undefined || echoText === '') return '';
    return this.shape.echo(this.sequence.index, escapeJson(echoText), { usage: this.usage() });
  }

  /**
   * The frames for tokens `[fromIndex, fromIndex + count)`. Empty when no text becomes visible and
   * the dialect skips such frames.
   */
  tokens(fromIndex: number, count: number): string {
    this.received = fromIndex + count;
    if (this.parts !== undefined) return this.chunks(this.parts.advance(fromIndex, count, false));
    const text = this.text.advance(fromIndex, count, false);
    if (this.frame !== undefined && this.hasBegun && text !== '') {
      return this.frame[0] + text + this.frame[1];
    }
    if (count === 0) return '';
    return this.chunk(text, undefined);
  }

  /** The frames for the last `count` tokens (0 when all have arrived) and for the end. */
  finishSequence(reason: EndReason, fromIndex: number, count: number): string {
    assert(count === 0 || fromIndex === this.received, 'tokens come in order');
    this.received = fromIndex + count;
    const { plan } = this.sequence;
    const finish = {
      reason: plan.segments === undefined ? reason : finishReasonOf(this.request, plan, reason),
      stopReason: reason === 'stop' ? plan.stopReason : null,
    };
    if (this.parts !== undefined) {
      return this.chunks(this.parts.advance(fromIndex, count, true), finish);
    }
    const text = this.text.advance(fromIndex, count, true);
    if (!this.shape.finishesApart) return this.chunk(text, finish);
    const last = this.chunk(text, undefined);
    return last + this.shape.finishSequence(this.sequence.index, this.facts(finish));
  }

  private chunk(text: string, finish: FinishFacts | undefined): string {
    const echo = this.hasBegun || this.isChat ? '' : this.completionEcho();
    const whole = escapeJson(echo) + text;
    if (whole === '' && this.shape.finishesApart) return '';
    const facts = this.facts(finish);
    this.hasBegun = true;
    // Log-probabilities count offsets in characters of this text.
    if (this.logprobs !== undefined) this.textOffset += echo.length + visibleLength(text);
    return this.shape.chunk(this.sequence.index, whole, facts);
  }

  /** One frame per delta. Facts about the tokens are in the last frame. */
  private chunks(deltas: readonly RawJson[], finish?: FinishFacts): string {
    const { index } = this.sequence;
    const { finishesApart } = this.shape;
    const needsOne = !finishesApart && (finish !== undefined || this.hasUnshownIds());
    const all = deltas.length === 0 && needsOne ? ['{}'] : deltas;
    const last = all.length - 1;
    const frames = all.map((delta, i) => {
      const facts =
        i < last ? { usage: this.usage() } : this.facts(finishesApart ? undefined : finish);
      return this.shape.delta(index, delta, facts);
    });
    if (finish !== undefined && finishesApart) {
      frames.push(this.shape.finishSequence(index, this.facts(finish)));
    }
    return frames.join('');
  }

  private hasUnshownIds(): boolean {
    if (!this.request.returnTokenIds) return false;
    return this.reported.ids(this.sequence.plan, this.firstUnshown, this.received).length > 0;
  }

  /** Used only for ids and log-probabilities. */
  private get reported(): ReportedTokens {
    return new ReportedTokens(this.sequence.plan, this.request, this.options.dialect);
  }

  private segmentDeltas(): SegmentDeltas {
    const { request, sequence, options } = this;
    const { dialect, tokenizer } = options;
    const { answerId, index: choice } = sequence;
    return new SegmentDeltas(sequence.plan, {
      tokenizer,
      deltas: new DeltaWriter(dialect, request.calls.kind),
      showsReasoning: request.reasoning?.isShown !== false,
      callId: (call) => callId(dialect, answerId, { choice, call }),
    });
  }

  /** The frame's fields other than its text. Marks the unreported tokens as reported. */
  private facts(finish: FinishFacts | undefined): ChunkFacts {
    const { plan, prompt } = this.sequence;
    const from = this.firstUnshown;
    this.firstUnshown = this.received;
    const { returnTokenIds } = this.request;
    const isFirst = !this.hasBegun && !this.isChat;
    return {
      finish,
      logprobs: this.logprobs === undefined ? undefined : this.logprobsOf(from, isFirst),
      tokenIds: returnTokenIds ? rawIds(this.reported.ids(plan, from, this.received)) : undefined,
      promptTokenIds: isFirst && returnTokenIds ? rawIds(prompt.ids) : undefined,
      usage: this.usage(),
    };
  }

  private logprobsOf(from: number, isFirst: boolean): RawJson | undefined {
    const writer = this.logprobs;
    if (writer === undefined) return undefined;
    const { plan, prompt } = this.sequence;
    const scored: ScoredToken[] = isFirst && this.request.echo ? writer.ofPrompt(prompt.ids) : [];
    if (!prompt.hidesOutput)
      scored.push(...writer.ofOutput({ plan, from, to: this.received, reported: this.reported }));
    if (scored.length === 0) return undefined;
    if (!this.isChat) return writer.completion(scored, this.textOffset);
    return this.options.dialect === 'openai' ? writer.openaiChat(scored) : writer.chat(scored);
  }

  /** vLLM leaves out the echo when token ids are returned. */
  private completionEcho(): string {
    return this.request.returnTokenIds ? '' : (this.sequence.prompt.echoText ?? '');
  }

  private usage(): RawJson | undefined {
    if (!this.request.continuousUsage) return undefined;
    const promptTokens = this.sequence.prompt.ids.length;
    return runningUsageJson({ promptTokens, completionTokens: this.received }, this.options);
  }

  /** The constant parts of a frame. Undefined when frames differ in more than their text. */
  private constantFrame(): readonly [string, string] | undefined {
    const { continuousUsage, returnTokenIds } = this.request;
    if (this.logprobs !== undefined || continuousUsage || returnTokenIds) return undefined;
    const [before, after] = this.shape.chunk(this.sequence.index, HOLE, {}).split(HOLE);
    assert(before !== undefined && after !== undefined, 'a chunk shows its text once');
    return [before, after];
  }
}

/** Characters of JSON-escaped text. */
function visibleLength(escaped: string): number {
  return escaped.includes('\\') ? (JSON.parse(`"${escaped}"`) as string).length : escaped.length;
}
