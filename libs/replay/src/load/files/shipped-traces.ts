import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TraceFormat } from '@baton/workload';

/** A trace that ships with Baton. data/README.md has source and licence. */
export interface ShippedTrace {
  readonly name: string;
  readonly format: TraceFormat;
  readonly file: string;
  readonly what: string;
}

export const SHIPPED_TRACES: readonly ShippedTrace[] = [
  {
    name: 'mooncake-conversation',
    format: 'mooncake',
    file: 'mooncake_conversation_trace.jsonl',
    what: '12,031 requests of 59 minutes, long prompts with shared prefixes (Mooncake, FAST 2025)',
  },
  {
    name: 'mooncake-synthetic',
    format: 'mooncake',
    file: 'mooncake_synthetic_trace.jsonl',
    what:
      '3,993 requests of 17 minutes, two thirds of the prompt tokens reusable (Mooncake, FAST ' +
      '2025)',
  },
  {
    name: 'azure-conv-2023',
    format: 'azure',
    file: 'AzureLLMInferenceTrace_conv.csv',
    what: '19,366 requests of 58 minutes, lengths only (Azure Public Dataset, ISCA 2024)',
  },
  {
    name: 'azure-code-2023',
    format: 'azure',
    file: 'AzureLLMInferenceTrace_code.csv',
    what:
      '8,819 requests of 57 minutes, long prompts, short outputs, lengths only (Azure Public ' +
      'Dataset)',
  },
];

/** Path of a file in data/traces, from the sources and from the build. */
export function shippedTracePath(trace: ShippedTrace): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'data', 'traces')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return join(folder, 'data', 'traces', trace.file);
}

/** The output of `--trace list`: one line for each. */
export function shippedTracesText(): string {
  return SHIPPED_TRACES.map(({ name, what }) => `${name}\n    ${what}\n`).join('');
}
