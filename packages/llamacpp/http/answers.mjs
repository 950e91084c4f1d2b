// Bodies of answers, as vLLM writes them.

/** A whole answer. */
export function wholeAnswer(request, { id, model, created, text, result }) {
  const { endpoint, wantsTokenIds } = request;
  const isChat = endpoint === 'chat';
  const ends = { finish_reason: result.reason, stop_reason: result.stopReason };
  const ids = wantsTokenIds ? { token_ids: result.tokenIds } : {};
  const promptIds = wantsTokenIds ? { prompt_token_ids: result.promptTokenIds } : {};
  const choice = isChat
    ? { index: 0, message: { role: 'assistant', content: text }, logprobs: null, ...ends, ...ids }
    : { index: 0, text, logprobs: null, ...ends, ...ids, ...promptIds };
  return {
    id,
    object: isChat ? 'chat.completion' : 'text_completion',
    created,
    model,
    choices: [choice],
    usage: usageOf(result),
    ...(isChat ? promptIds : {}),
    kv_transfer_params: result.kvTransferParams ?? null,
  };
}

/** Writes the events of a streamed answer. */
export class StreamedAnswer {
  constructor(request, facts) {
    Object.assign(this, { request, facts });
    this.isChat = request.endpoint === 'chat';
  }

  /** Before the first text. */
  first() {
    return this.isChat ? this.event([this.choice({ role: 'assistant', content: '' })]) : '';
  }

  text(text, tokenIds) {
    return this.event([this.choice(this.isChat ? { content: text } : text, { tokenIds })]);
  }

  /** The last text, the reason of the end, usage on request, and the end mark. */
  end(text, tokenIds, result) {
    const delta = this.isChat ? { content: text } : text;
    const last = this.event([this.choice(delta, { tokenIds, result })]);
    const usage = this.request.hasUsage ? this.event([], usageOf(result)) : '';
    return `${last}${usage}data: [DONE]\n\n`;
  }

  choice(delta, { tokenIds, result } = {}) {
    const ids = this.request.wantsTokenIds && tokenIds !== undefined ? { token_ids: tokenIds } : {};
    return {
      index: 0,
      ...(this.isChat ? { delta } : { text: delta }),
      logprobs: null,
      finish_reason: result?.reason ?? null,
      stop_reason: result?.stopReason ?? null,
      ...ids,
    };
  }

  event(choices, usage) {
    const { id, model, created } = this.facts;
    const object = this.isChat ? 'chat.completion.chunk' : 'text_completion';
    const body = { id, object, created, model, choices, ...(usage && { usage }) };
    return `data: ${JSON.stringify(body)}\n\n`;
  }
}

export function errorBody(status, message, param = null) {
  const type = status === 404 ? 'NotFoundError' : 'BadRequestError';
  return {
    error: { message, type: status >= 500 ? 'InternalServerError' : type, param, code: status },
  };
}

function usageOf({ promptTokenIds, tokenIds, remoteTokens }) {
  const [prompt, completion] = [promptTokenIds.length, tokenIds.length];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: remoteTokens },
  };
}
