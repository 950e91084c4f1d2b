import type { ServerResponse } from 'node:http';

const SKIPPED_TOOLS = 'x-baton-skipped-tools';
const MAX_LENGTH = 1_000;

/** Names the types of the tools that an answer leaves out. Set before the answer is opened. */
export function nameSkippedTools(response: ServerResponse, types: readonly string[]): void {
  if (types.length === 0) return;
  const names = [...new Set(types)].join(', ').replace(/[^\x20-\x7e]/g, '?');
  response.setHeader(SKIPPED_TOOLS, names.slice(0, MAX_LENGTH));
}
