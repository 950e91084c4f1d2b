import type { EndReason } from '@baton/contract';
import { assert } from '@baton/kernel';
import { asciiJson, type OutputPlan, visibleText } from '@baton/text';
import type { GenerationRequest, Prompt } from '../generation-request';
import type { AnswerHead, AnswerOptions } from './answer-head';
import { LogprobsWriter, type ScoredToken } from './logprobs-json';
import { openaiBody, openaiChoice } from './openai-final-shape';
import { type RawJson, rawIds } from './raw-json';
import { usageJson } from './usage';
import { vllmBody, vllmChoice } from './vllm-final-shape';

export interface FinishedSequence {
  readonly plan: OutputPlan;
  readonly reason: EndReason;
  /** Tokens generated, at most the plan's. */
  readonly count: number;
}

export interface FinalFacts {
  readonly cachedTokens?: number | undefined;
  readonly kvTransferParams?: object | undefined;
}

/** A choice of an answer in one piece; JSON where it is not plain. */
export interface FinalChoice {
  readonly index: number;
  readonly text: RawJson;
  readonly logprobs: RawJson;
  readonly reason: EndReason;
  readonly stopReason: string | number | null;
  /** Undefined unless the request asked for ids. */
  readonly tokenIds: RawJson | undefined;
  readonly promptTokenIds: RawJson | undefined;
  readonly promptLogprobs: RawJson | undefined;
}

/** An answer in one piece, its parts in order. */
export interface FinalParts {
  readonly request: GenerationRequest;
  readonly head: AnswerHead;
  readonly choices: readonly FinalChoice[];
  readonly usage: RawJson;
  readonly kvTransferParams: RawJson | undefined;
}

/** What an answer is written for. */
export interface FinalContext {
  readonly request: GenerationRequest;
  readonly head: AnswerHead;
  readonly options: AnswerOptions;
}

/** The JSON body of an answer that is not streamed. `results[i]` is sequence `i`. ASCII. */
export function renderFinal(
  { request, head, options }: FinalContext,
  results: readonly FinishedSequence[],
  facts: FinalFacts = {},
): string {
  const writer = new ChoiceWriter(request, options);
  const choices = results.map((result, index) => writer.choice(result, index));
  const usage = {
    promptTokens: request.prompts.reduce((sum, { ids }) => sum + ids.length, 0),
    completionTokens: results.reduce((sum, { count }) => sum + count, 0),
    cachedTokens: facts.cachedTokens,
  };
  const { kvTransferParams: params } = facts;
  const parts: FinalParts = {
    request,
    head,
    choices,
    usage: usageJson(usage, options, false),
    kvTransferParams: params === undefined ? undefined : asciiJson(params),
  };
  return options.dialect === 'vllm'
    ? vllmBody(
        parts,
        choices.map((choice) => vllmChoice(request.endpoint, choice)),
      )
    : openaiBody(
        parts,
        choices.map((choice) => openaiChoice(request.endpoint, choice)),
      );
}

class ChoiceWriter {
  constructor(
    private readonly request: GenerationRequest,
    private readonly options: AnswerOptions,
  ) {}

  choice(result: FinishedSequence, index: number): FinalChoice {
    const { request } = this;
    const prompt = request.prompts[Math.floor(index / request.choices)];
    assert(prompt !== undefined, 'every result belongs to a prompt');
    const { plan, reason, count } = result;
    return {
      index,
      text: asciiJson(this.echoOf(prompt) + this.textOf(prompt, result)),
      logprobs: this.logprobs(prompt, result),
      reason,
      stopReason: reason === 'stop' ? plan.stopReason : null,
      tokenIds: request.returnTokenIds ? rawIds(plan.tokenIds.subarray(0, count)) : undefined,
      promptTokenIds: request.returnTokenIds ? rawIds(prompt.ids) : undefined,
      promptLogprobs: this.promptLogprobs(prompt),
    };
  }

  private textOf(prompt: Prompt, { plan, count }: FinishedSequence): string {
    return prompt.hidesOutput ? '' : visibleText(this.options.tokenizer, plan, count);
  }

  /** With token ids returned, vLLM leaves a completion's echo to them. */
  private echoOf(prompt: Prompt): string {
    const isLeftOut = this.request.endpoint === 'completions' && this.request.returnTokenIds;
    return isLeftOut ? '' : (prompt.echoText ?? '');
  }

  private logprobs(prompt: Prompt, { plan, count }: FinishedSequence): RawJson {
    const { logprobs, endpoint, echo } = this.request;
    if (logprobs === undefined) return 'null';
    const writer = this.writer(logprobs);
    const isChat = endpoint === 'chat';
    const scored: ScoredToken[] = echo && !isChat ? writer.ofPrompt(prompt.ids) : [];
    if (!prompt.hidesOutput) scored.push(...writer.ofOutput(plan, 0, count));
    if (!isChat) return writer.completion(scored, 0);
    return this.options.dialect === 'openai' ? writer.openaiChat(scored) : writer.chat(scored);
  }

  /** A completion that echoes with log-probabilities has those of its prompt too. */
  private promptLogprobs(prompt: Prompt): RawJson | undefined {
    const { promptLogprobs, endpoint, echo, logprobs } = this.request;
    const top = promptLogprobs ?? (echo && endpoint === 'completions' ? logprobs : undefined);
    if (top === undefined) return undefined;
    const writer = this.writer(top);
    return writer.prompt(writer.ofPrompt(prompt.ids));
  }

  private writer(top: number): LogprobsWriter {
    return new LogprobsWriter(this.options.tokenizer, top, this.request.tokensAsIds);
  }
}
