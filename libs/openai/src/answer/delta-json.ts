import { asciiJson } from '@baton/text';
import type { CallShape } from '../generation-request';
import type { Dialect } from '../limits';
import { type RawJson, rawObject } from './raw-json';

/** A call as it is opened in a stream. */
export interface CallHead {
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** The deltas of chat chunks beside plain content. Texts come JSON-escaped. */
export class DeltaWriter {
  constructor(
    private readonly dialect: Dialect,
    private readonly calls: CallShape['kind'],
  ) {}

  content(text: string): RawJson {
    return `{"content":"${text}"}`;
  }

  /** OpenAI shows no reasoning; what others added to its shape is `reasoning_content`. */
  reasoning(text: string): RawJson {
    return `{"${reasoningKey(this.dialect)}":"${text}"}`;
  }

  callOpening({ index, id, name }: CallHead): RawJson {
    const called = rawObject({ name: asciiJson(name), arguments: '""' });
    if (this.calls === 'function') return `{"function_call":${called}}`;
    const head =
      this.dialect === 'vllm'
        ? { id: asciiJson(id), type: '"function"', index: String(index) }
        : { index: String(index), id: asciiJson(id), type: '"function"' };
    return `{"tool_calls":[${rawObject({ ...head, function: called })}]}`;
  }

  callArguments(index: number, text: string): RawJson {
    return this.calls === 'function'
      ? `{"function_call":{"arguments":"${text}"}}`
      : `{"tool_calls":[{"index":${index},"function":{"arguments":"${text}"}}]}`;
  }
}

export function reasoningKey(dialect: Dialect): string {
  return dialect === 'vllm' ? 'reasoning' : 'reasoning_content';
}
