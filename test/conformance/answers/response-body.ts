type Fields = Readonly<Record<string, unknown>>;

/** The request for a response that is equivalent to this one for a chat. */
export function asResponseBody(chat: Fields): object {
  const { messages, tools, tool_choice, response_format: format, ...rest } = chat;
  const { max_tokens: max_output_tokens, reasoning_effort: effort, ...others } = rest;
  const { logprobs, stream_options: _options, ...same } = others;
  return {
    ...same,
    input: (messages as Fields[]).flatMap(itemsOf),
    max_output_tokens,
    reasoning: { effort },
    ...(tools === undefined ? {} : { tools: (tools as Fields[]).map(flat) }),
    ...(tool_choice === undefined ? {} : { tool_choice: choiceOf(tool_choice) }),
    ...(format === undefined ? {} : { text: { format: flat(format as Fields) } }),
    ...(logprobs === true ? { include: ['message.output_text.logprobs'] } : {}),
  };
}

/** `{type, [type]: fields}` as `{type, ...fields}`. */
function flat(one: Fields): object {
  const { type, ...rest } = one;
  const [own] = Object.values(rest);
  return { type, ...(own as object) };
}

function choiceOf(choice: unknown): unknown {
  if (typeof choice !== 'object' || choice === null) return choice;
  const { type, allowed_tools: allowed } = choice as { type: string; allowed_tools?: Fields };
  if (allowed === undefined) return flat(choice as Fields);
  return { type, mode: allowed['mode'], tools: (allowed['tools'] as Fields[]).map(flat) };
}

function itemsOf(message: Fields): object[] {
  const { role, content, tool_calls: calls, tool_call_id: call_id } = message;
  if (role === 'tool') return [{ type: 'function_call_output', call_id, output: content }];
  if (calls === undefined) return [{ role, content: partsOf(content) }];
  return (calls as { id: string; function: object }[]).map((call) => ({
    type: 'function_call',
    call_id: call.id,
    ...call.function,
  }));
}

function partsOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return (content as { type: string; image_url?: { url: string } }[]).map((part) =>
    part.type === 'image_url'
      ? { type: 'input_image', detail: 'auto', image_url: part.image_url?.url }
      : { ...part, type: 'input_text' },
  );
}
