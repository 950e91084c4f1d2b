import { BatonError } from '@baton/contract';
import { outside } from '../refusal/openai-faults';
import { checkedBody } from '../body/checked-body';
import { otherEndpoint } from '../body/other-endpoints';
import { valueError } from '../refusal/request-error';
import type { GenerationRequest, Prompt } from '../generation-request';
import type { RequestLimits } from '../limits';
import { CompletionRequest } from './completion.dto';
import { ContextLength, type PromptLength, PromptTotal } from './context-length';
import { servedModel } from './parse-body';
import { checkLogprobs, checkMinTokens, samplingPart } from './sampling-request';
import { checkStrictly } from './strict';
import { Truncation } from './truncation';
import { refuseSuffix, refuseUnsupported } from './unsupported';

/** The default of vLLM and of OpenAI. */
const DEFAULT_MAX_TOKENS = 16;
/** vLLM's VLLM_MAX_COMPLETION_PROMPTS and VLLM_MAX_N_SEQUENCES. */
const MAX_PROMPTS = 1024;
const MAX_SEQUENCES = 16_384;
/** Most log-probabilities written in one turn of the event loop: 20 ms on a slow core. */
const MOST_STREAMED_SCORES = 8_192;

type PromptSource = string | readonly number[];

/** Checks a body of POST /v1/completions. Throws `BatonError` with the first error. */
export function parseCompletion(body: unknown, limits: RequestLimits): GenerationRequest {
  const dto = checkedBody(CompletionRequest, body, limits);
  if (limits.strict !== undefined) checkStrictly(dto, limits.strict);
  refuseSuffix(dto);
  refuseUnsupported(dto);
  const sources = promptSources(dto);
  const model = servedModel(dto.model, limits);
  const part = samplingPart(dto, limits);
  const choices = Math.max(part.shownChoices, dto.best_of ?? 1);
  checkBestOf(dto, choices);
  checkSequences(sources.length * choices);
  if (typeof dto.logprobs === 'number') {
    checkLogprobs({ field: 'logprobs', kind: 'sample', count: dto.logprobs }, limits);
  }
  if (typeof dto.prompt_logprobs === 'number') {
    checkLogprobs({ field: 'prompt_logprobs', kind: 'prompt', count: dto.prompt_logprobs }, limits);
  }
  const prompts = new Prompts(dto, limits).read(sources);
  if (part.stream && dto.echo === true) checkStreamedScores(dto, prompts, choices);
  return {
    endpoint: 'completions',
    model,
    prompts,
    choices,
    tools: undefined,
    calls: { kind: 'tools', finishReason: 'tool_calls' },
    reasoning: undefined,
    returnPromptText: false,
    logprobs: dto.logprobs ?? undefined,
    promptLogprobs: dto.prompt_logprobs ?? undefined,
    ...part,
  };
}

/**
 * Limits the log-probabilities in a stream: its first event has those of the whole prompt, and the
 * event loop writes it.
 */
function checkStreamedScores(
  { logprobs }: CompletionRequest,
  prompts: readonly Prompt[],
  choices: number,
): void {
  const tokens = choices * prompts.reduce((sum, { ids }) => sum + ids.length, 0);
  if (typeof logprobs === 'number' && tokens * (1 + logprobs) > MOST_STREAMED_SCORES) {
    throw new BatonError('request_too_complex');
  }
}

/** Reads prompts as token ids, within the context length. */
class Prompts {
  private readonly hidesOutput: boolean;
  private readonly context: ContextLength;
  private readonly truncation: Truncation;

  constructor(
    private readonly dto: CompletionRequest,
    private readonly limits: RequestLimits,
  ) {
    const requested = dto.max_tokens ?? DEFAULT_MAX_TOKENS;
    this.hidesOutput = requested === 0 && dto.echo === true;
    if (requested === 0 && !this.hidesOutput) {
      const message = 'max_tokens must be at least 1, got 0.';
      const beyond = outside('integer', 0, [1, Infinity]);
      throw valueError({ field: 'max_tokens', message, named: true, beyond });
    }
    const maxTokens = Math.max(1, requested);
    checkMinTokens(dto.min_tokens ?? 0, maxTokens);
    this.truncation = new Truncation(dto, limits);
    this.context = new ContextLength(limits, { maxTokens, field: 'max_tokens', input: 'prompt' });
  }

  read(sources: readonly PromptSource[]): Prompt[] {
    const total = new PromptTotal(this.limits);
    return sources.map((source) => {
      const { ids, length } = typeof source === 'string' ? this.ofText(source) : this.ofIds(source);
      total.add({ ids });
      const maxTokens = this.context.room(length);
      this.context.checkCapacity(ids.length + maxTokens);
      const echoText = this.dto.echo === true ? this.textOf(source, ids) : undefined;
      const { hidesOutput } = this;
      return { ids, echoText, maxTokens, hidesOutput, ...this.saidIn(source, ids) };
    });
  }

  private saidIn(source: PromptSource, ids: Int32Array): Pick<Prompt, 'said'> {
    if (this.limits.keepsText !== true) return {};
    return { said: [{ role: 'user', text: source === '' ? '' : this.textOf(source, ids) }] };
  }

  private ofText(text: string): { ids: Int32Array; length: PromptLength } {
    const { tokenizer } = this.limits;
    const most = this.context.maxInputTokens;
    if (text === '') return measured(Int32Array.of(tokenizer.special.endOfText));
    if (this.truncation.isWanted) return measured(this.truncation.ofText(text, tokenizer));
    this.context.checkText(text.length);
    const ids = Int32Array.from(tokenizer.encode(text, most));
    return { ids, length: { tokens: ids.length, isAtLeast: ids.length > most } };
  }

  private ofIds(source: readonly number[]): { ids: Int32Array; length: PromptLength } {
    if (source.length === 0) throw emptyPrompt();
    const { tokenizer } = this.limits;
    const foreign = source.find((id) => !tokenizer.hasToken(id));
    if (foreign !== undefined) {
      const message = `Token id ${foreign} is out of vocabulary`;
      throw valueError({ field: 'prompt', message });
    }
    return measured(this.truncation.ofIds(Int32Array.from(source)));
  }

  private textOf(source: PromptSource, ids: Int32Array): string {
    const isWhole = typeof source === 'string' && !this.truncation.isWanted;
    return isWhole ? source : this.limits.tokenizer.decode(ids);
  }
}

function measured(ids: Int32Array): { ids: Int32Array; length: PromptLength } {
  return { ids, length: { tokens: ids.length, isAtLeast: false } };
}

/**
 * Refuses a stream with `best_of` above `n`: the best choices are known only after all have ended.
 */
function checkBestOf(dto: CompletionRequest, decoded: number): void {
  if (dto.stream !== true || decoded === (dto.n ?? 1)) return;
  const message = 'Streaming is not supported when best_of is greater than n.';
  throw valueError({ field: 'best_of', message });
}

function promptSources(dto: CompletionRequest): PromptSource[] {
  const { prompt } = dto;
  if (prompt === undefined || prompt === null) throw emptyPrompt(otherEndpoint('prompt', dto));
  if (typeof prompt === 'string') return [prompt];
  if (prompt.length === 0) throw emptyPrompt();
  if (typeof prompt[0] === 'number') return [prompt as readonly number[]];
  if (prompt.length > MAX_PROMPTS) {
    const message = `prompt must have at most ${MAX_PROMPTS} entries, got ${prompt.length}.`;
    throw valueError({ field: 'prompt', message });
  }
  return [...(prompt as readonly PromptSource[])];
}

function emptyPrompt(hint = ''): Error {
  const message = `Either prompt or prompt_embeds must be provided and non-empty.${hint}`;
  return valueError({ field: 'prompt', message, named: true });
}

function checkSequences(count: number): void {
  if (count <= MAX_SEQUENCES) return;
  const message = `prompts times n must be at most ${MAX_SEQUENCES}, got ${count}.`;
  throw valueError({ field: 'n', message });
}
