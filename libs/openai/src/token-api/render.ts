import { asciiJson } from '@baton/text';
import type { GenerationRequest, Prompt } from '../generation-request';
import type { RequestLimits } from '../limits';
import { objectBody } from '../body/checked-body';
import { parseChat } from '../request/parse-chat';
import { parseCompletion } from '../request/parse-completion';

/** Fields with the same meaning in chats, completions and `sampling_params`. */
const SAMPLING = [
  'n',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'stop',
  'stop_token_ids',
  'include_stop_str_in_output',
  'ignore_eos',
  'min_tokens',
  'bad_words',
  'allowed_token_ids',
  'logit_bias',
  'response_format',
  'structured_outputs',
  'prompt_logprobs',
] as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The answer of vLLM's POST /v1/chat/completions/render: the body for `/inference/v1/generate` that
 * equals this chat. Throws `BatonError`.
 */
export function renderChatBody(body: unknown, limits: RequestLimits, id: string): string {
  const request = parseChat(body, limits);
  return asciiJson(generateBody({ request, fields: objectBody(body), id }, promptsOf(request)[0]));
}

/** The same for a completion: a list with one body per prompt. Throws `BatonError`. */
export function renderCompletionBody(body: unknown, limits: RequestLimits, id: string): string {
  const request = parseCompletion(body, limits);
  const rendered = { request, fields: objectBody(body) };
  return asciiJson(
    promptsOf(request).map((prompt, i) => generateBody({ ...rendered, id: `${id}-${i}` }, prompt)),
  );
}

interface Rendered {
  readonly request: GenerationRequest;
  readonly fields: Fields;
  readonly id: string;
}

function promptsOf({ prompts }: GenerationRequest): readonly Prompt[] {
  return prompts;
}

function generateBody({ request, fields, id }: Rendered, prompt: Prompt | undefined): object {
  const given = SAMPLING.filter((name) => Object.hasOwn(fields, name) && fields[name] !== null);
  const sampling = Object.fromEntries(given.map((name) => [name, fields[name]]));
  return {
    request_id: id,
    token_ids: Array.from(prompt?.ids ?? []),
    features: null,
    sampling_params: {
      ...sampling,
      ...(request.logprobs === undefined ? {} : { logprobs: request.logprobs }),
      max_tokens: prompt?.maxTokens,
    },
    model: request.model,
    stream: request.stream,
    stream_options: request.includeUsage ? { include_usage: true } : null,
    cache_salt: request.cacheSalt ?? null,
    priority: request.priority,
    kv_transfer_params: request.kvTransferParams ?? null,
  };
}
