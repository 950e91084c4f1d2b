import { BatonError } from '@baton/contract';
import {
  type Dialect,
  planSequence,
  messageId,
  parseMessages,
  renderMessage,
  renderMessageError,
  StreamedMessage,
} from '@baton/openai';
import { defaultTokenizer } from '@baton/text';
import { describe, it } from 'vitest';
import { expectGolden } from './golden-file';

const tokenizer = defaultTokenizer();
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const TOOLS = [{ name: 'get_weather', input_schema: SCHEMA }];

interface Case {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly failure?: BatonError;
}

const CASES: readonly Case[] = [
  { name: 'plain', fields: {} },
  { name: 'length', fields: { max_tokens: 2 } },
  { name: 'stop', fields: { stop_sequences: ['t ag', 's e'] } },
  { name: 'tool-use', fields: { tools: TOOLS, tool_choice: { type: 'any' }, max_tokens: 200 } },
  {
    name: 'thinking',
    fields: { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 1500 },
  },
  {
    name: 'schema',
    fields: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
  },
  { name: 'error', fields: { max_tokens: 2 }, failure: new BatonError('engine_error') },
];

function settingOf(dialect: Dialect, { fields }: Case) {
  const limits = { dialect, tokenizer, models: ['golden'], maxModelLen: 8192, isReasoning: true };
  const messages = [{ role: 'user', content: 'Say "é".' }];
  const request = parseMessages({ max_tokens: 64, messages, ...fields }, limits);
  const plan = planSequence(request, { index: 0 }, { tokenizer, seed: 0, lengthModel: () => 12 });
  const id = messageId(dialect, 'golden');
  const head = { id, created: 1_787_000_000, model: 'golden', systemFingerprint: 'fp' };
  return { request, plan, head, options: { dialect, tokenizer } };
}

describe.each(['openai', 'vllm'] as const)('messages, %s', (dialect) => {
  it.each(CASES)('$name, streamed', (one) => {
    const setting = settingOf(dialect, one);
    const { plan } = setting;
    const message = new StreamedMessage(setting);
    let bytes = message.open();
    for (let at = 0; at < plan.count - 1; at++) bytes += message.tokens(at, 1);
    bytes += one.failure
      ? message.fail(one.failure)
      : message.finishSequence(plan.endReason, plan.count - 1, 1) +
        message.finishStream({ cachedTokens: 0 });
    expectGolden(`${dialect}-messages-${one.name}.sse.txt`, bytes);
  });

  it.each(CASES)('$name, whole', (one) => {
    const { plan, ...setting } = settingOf(dialect, one);
    const result = { plan, reason: plan.endReason, count: plan.count };
    const body = one.failure
      ? renderMessageError(one.failure, dialect).body
      : renderMessage(setting, result, { cachedTokens: 0 });
    expectGolden(`${dialect}-messages-${one.name}.body.txt`, `${body}\n`);
  });
});
