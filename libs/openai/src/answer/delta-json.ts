import { asciiJson, type RawJson, rawObject, type ToolKind } from '@baton/text';
import type { Dialect } from '../refusal/dialect';
import type { CallShape } from '../generation-request';

/** The opening of a call in a stream. */
export interface CallHead {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly kind: ToolKind;
}

/** Writes the deltas of chat chunks other than plain content. Texts are JSON-escaped. */
export class DeltaWriter {
  constructor(
    private readonly dialect: Dialect,
    private readonly calls: CallShape['kind'],
  ) {}

  content(text: string): RawJson {
    return `{"content":"${text}"}`;
  }

  /** OpenAI shows no reasoning; `reasoning_content` is an extension of other servers. */
  reasoning(text: string): RawJson {
    return `{"${reasoningKey(this.dialect)}":"${text}"}`;
  }

  callOpening({ index, id, name, kind }: CallHead): RawJson {
    const called = rawObject({ name: asciiJson(name), [textKey(kind)]: '""' });
    if (this.calls === 'function') return `{"function_call":${called}}`;
    const head =
      this.dialect === 'vllm'
        ? { id: asciiJson(id), type: asciiJson(kind), index: String(index) }
        : { index: String(index), id: asciiJson(id), type: asciiJson(kind) };
    return `{"tool_calls":[${rawObject({ ...head, [kind]: called })}]}`;
  }

  callArguments(index: number, kind: ToolKind, text: string): RawJson {
    return this.calls === 'function'
      ? `{"function_call":{"arguments":"${text}"}}`
      : `{"tool_calls":[{"index":${index},"${kind}":{"${textKey(kind)}":"${text}"}}]}`;
  }
}

export function reasoningKey(dialect: Dialect): string {
  return dialect === 'vllm' ? 'reasoning' : 'reasoning_content';
}

/** The key of a call's input. */
export function textKey(kind: ToolKind): string {
  return kind === 'custom' ? 'input' : 'arguments';
}
