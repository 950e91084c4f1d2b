import { valueError } from '../refusal/request-error';

/**
 * Handling of tools that only their vendor can run, such as web search: leave them out and name
 * them, or refuse the request.
 */
export type UnsupportedTools = 'skip' | 'reject';

const MAX_SHOWN = 100;

/**
 * The type of a tool that is left out.
 *
 * @param field place of the tool in its request
 * @throws BatonError with `reject`
 */
export function skippedTool(
  type: string,
  field: string,
  unsupported: UnsupportedTools = 'skip',
): string {
  const shown = type.slice(0, MAX_SHOWN);
  if (unsupported === 'skip') return shown;
  throw valueError({
    field: `${field}.type`,
    message: `${field}.type '${shown}' is not supported.`,
  });
}

/** The error of a tool choice that leaves only tools that are left out. */
export function onlySkipped(skipped: readonly string[]): Error {
  const message = `tool_choice leaves only tools that are not supported: ${skipped.join(', ')}.`;
  return valueError({ field: 'tool_choice', message });
}
