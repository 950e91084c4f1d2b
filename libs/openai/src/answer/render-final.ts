import type { EndReason } from '@baton/contract';
import {
  asciiJson,
  type OutputPlan,
  rawArray,
  rawIds,
  type RawJson,
  rawObject,
  segmentText,
  visibleText,
} from '@baton/text';
import type { GenerationRequest, Prompt } from '../generation-request';
import type { AnswerHead, AnswerOptions } from './answer-head';
import { chosenSequences, type ChosenSequence } from './best-choices';
import { callId } from './call-id';
import { textKey } from './delta-json';
import { type FinishReason, finishReasonOf } from './finish-reason';
import { LogprobsWriter, type ScoredToken } from './logprobs-json';
import { openaiBody, openaiChoice } from './openai-final-shape';
import { ReportedTokens, reasoningTokens } from './reported-tokens';
import { usageJson } from './usage';
import { vllmBody, vllmChoice } from './vllm-final-shape';

export interface FinishedSequence {
  readonly plan: OutputPlan;
  readonly reason: EndReason;
  /** Generated tokens, at most those of the plan. */
  readonly count: number;
}

export interface FinalFacts {
  readonly cachedTokens?: number | undefined;
  readonly kvTransferParams?: object | undefined;
  readonly extras?: AnswerExtras | undefined;
}

/** Fields by name, each as its JSON text. */
export type RawFields = Readonly<Record<string, RawJson>>;

/**
 * Fields beyond those of the dialect, of an answer in one piece. A field with a name of the dialect
 * takes the place of that one.
 */
export interface AnswerExtras {
  readonly body?: RawFields;
  readonly firstChoice?: RawFields;
}

/** A choice of an answer in one piece. Raw fields are JSON texts. */
export interface FinalChoice {
  readonly index: number;
  /** `null` when an answer has other content. */
  readonly text: RawJson;
  /** Undefined: there is no reasoning, or it is hidden. */
  readonly reasoning: RawJson | undefined;
  /** Calls of functions: `tool_calls`, or the one `function_call`. Undefined: there are none. */
  readonly toolCalls: RawJson | undefined;
  readonly functionCall: RawJson | undefined;
  readonly logprobs: RawJson;
  readonly reason: FinishReason;
  readonly stopReason: string | number | null;
  /** Undefined when the request does not request ids. */
  readonly tokenIds: RawJson | undefined;
  readonly promptTokenIds: RawJson | undefined;
  readonly promptLogprobs: RawJson | undefined;
  /** Undefined when the request does not request it. */
  readonly promptText: RawJson | undefined;
  readonly extras?: RawFields | undefined;
}

/** The parts of an answer in one piece, in order. */
export interface FinalParts {
  readonly request: GenerationRequest;
  readonly head: AnswerHead;
  readonly choices: readonly FinalChoice[];
  readonly usage: RawJson;
  readonly kvTransferParams: RawJson | undefined;
  readonly extras?: RawFields | undefined;
}

/** The context of a rendered answer. */
export interface FinalContext {
  readonly request: GenerationRequest;
  readonly head: AnswerHead;
  readonly options: AnswerOptions;
}

/**
 * The JSON body (ASCII) of an answer that is not streamed. `results[i]` belongs to sequence `i`.
 */
export function renderFinal(
  { request, head, options }: FinalContext,
  results: readonly FinishedSequence[],
  facts: FinalFacts = {},
): string {
  const writer = new ChoiceWriter({ request, head, options });
  const chosen = chosenSequences(request, results, options.tokenizer);
  const { kvTransferParams: params, extras } = facts;
  const choices = chosen.map((one, index) => {
    const choice = writer.choice(one, index);
    const own = index === 0 ? extras?.firstChoice : undefined;
    return own === undefined ? choice : { ...choice, extras: own };
  });
  const usage = {
    promptTokens: request.prompts.reduce((sum, { ids }) => sum + ids.length, 0),
    completionTokens: results.reduce((sum, { count }) => sum + count, 0),
    reasoningTokens: results.reduce((sum, one) => sum + reasoningTokens(one.plan, one.count), 0),
    cachedTokens: facts.cachedTokens,
  };
  const parts: FinalParts = {
    request,
    head,
    choices,
    usage: usageJson(usage, options, false),
    kvTransferParams: params === undefined ? undefined : asciiJson(params),
    extras: extras?.body,
  };
  return options.dialect === 'vllm'
    ? vllmBody(
        parts,
        choices.map((choice) => vllmChoice(request.endpoint, choice)),
      )
    : openaiBody(
        parts,
        choices.map((choice) => openaiChoice(request, choice)),
      );
}

class ChoiceWriter {
  private readonly request: GenerationRequest;
  private readonly options: AnswerOptions;

  constructor(private readonly context: FinalContext) {
    this.request = context.request;
    this.options = context.options;
  }

  choice({ result, prompt }: ChosenSequence, index: number): FinalChoice {
    const { request } = this;
    const { plan, reason, count } = result;
    const reported = new ReportedTokens(plan, request, this.options.dialect);
    const calls = this.calls(result, index);
    const isCalls = calls.length > 0;
    return {
      index,
      text: this.text(prompt, result),
      reasoning: this.reasoning(result),
      toolCalls: isCalls && request.calls.kind === 'tools' ? rawArray(calls) : undefined,
      functionCall: isCalls && request.calls.kind === 'function' ? calls[0] : undefined,
      logprobs: this.logprobs(prompt, result, { reported, isCalls }),
      reason: finishReasonOf(request, plan, reason),
      stopReason: reason === 'stop' ? plan.stopReason : null,
      tokenIds: request.returnTokenIds ? rawIds(reported.ids(plan, 0, count)) : undefined,
      promptTokenIds: request.returnTokenIds ? rawIds(prompt.ids) : undefined,
      promptLogprobs: this.promptLogprobs(prompt),
      promptText: request.returnPromptText
        ? asciiJson(this.options.tokenizer.decode(prompt.ids))
        : undefined,
    };
  }

  private text(prompt: Prompt, { plan, count }: FinishedSequence): RawJson {
    const isContent = plan.segments?.some(({ kind }) => kind === 'content') ?? true;
    if (!isContent && !this.request.echo) return 'null';
    const text = prompt.hidesOutput ? '' : visibleText(this.options.tokenizer, plan, count);
    return asciiJson(this.echoOf(prompt) + text);
  }

  private reasoning({ plan, count }: FinishedSequence): RawJson | undefined {
    const segment = plan.segments?.find(({ kind }) => kind === 'reasoning');
    if (segment === undefined || this.request.reasoning?.isShown !== true) return undefined;
    return asciiJson(segmentText(this.options.tokenizer, { plan, segment, count }));
  }

  /** The calls that have begun. The arguments of the last one can be cut. */
  private calls({ plan, count }: FinishedSequence, choice: number): RawJson[] {
    const { request, options, head } = this.context;
    const opened = (plan.segments ?? []).filter(({ kind, to }) => kind === 'call' && to <= count);
    return opened.map(({ name, call, callKind: kind }) => {
      const segment = plan.segments?.find((one) => one.kind === 'arguments' && one.call === call);
      const text =
        segment === undefined ? '' : segmentText(options.tokenizer, { plan, segment, count });
      const called = rawObject({ name: asciiJson(name), [textKey(kind)]: asciiJson(text) });
      if (request.calls.kind === 'function') return called;
      const id = callId(options.dialect, head.id, { choice, call });
      return rawObject({ id: asciiJson(id), type: asciiJson(kind), [kind]: called });
    });
  }

  /** vLLM leaves out the echo of a completion that returns token ids. */
  private echoOf(prompt: Prompt): string {
    const isLeftOut = this.request.endpoint === 'completions' && this.request.returnTokenIds;
    return isLeftOut ? '' : (prompt.echoText ?? '');
  }

  private logprobs(
    prompt: Prompt,
    { plan, count }: FinishedSequence,
    { reported, isCalls }: { readonly reported: ReportedTokens; readonly isCalls: boolean },
  ): RawJson {
    const { logprobs, endpoint, echo } = this.request;
    if (logprobs === undefined) return 'null';
    const writer = this.writer(logprobs);
    const isChat = endpoint === 'chat';
    const scored: ScoredToken[] = echo && !isChat ? writer.ofPrompt(prompt.ids) : [];
    if (!prompt.hidesOutput)
      scored.push(...writer.ofOutput({ plan, from: 0, to: count, reported }));
    // OpenAI writes null next to calls, and an empty list where all tokens were spent on reasoning.
    if (isCalls && scored.length === 0) return 'null';
    if (!isChat) return writer.completion(scored, 0);
    return this.options.dialect === 'openai' ? writer.openaiChat(scored) : writer.chat(scored);
  }

  /** A completion with echo and log-probabilities includes those of its prompt. */
  private promptLogprobs(prompt: Prompt): RawJson | undefined {
    const { promptLogprobs, endpoint, echo, logprobs } = this.request;
    const top = promptLogprobs ?? (echo && endpoint === 'completions' ? logprobs : undefined);
    if (top === undefined) return undefined;
    return this.writer(top).prompt(prompt.ids);
  }

  private writer(top: number): LogprobsWriter {
    return new LogprobsWriter(this.options.tokenizer, top, this.request.tokensAsIds);
  }
}
