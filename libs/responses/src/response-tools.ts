import { isObject } from '@baton/kernel';
import { onlySkipped, skippedTool, type UnsupportedTools, valueError } from '@baton/openai';

type Fields = Readonly<Record<string, unknown>>;

/** The tools of a request in the form of a chat. */
export interface ResponseTools {
  readonly tools: readonly object[];
  readonly toolChoice: unknown;
  /** Index of each of `tools` in the request. */
  readonly indexes: readonly number[];
  /** Types of tools that are left out. */
  readonly skipped: readonly string[];
}

export function chatTools(
  tools: readonly Fields[],
  choice: unknown,
  unsupported: UnsupportedTools,
): ResponseTools {
  const callable: object[] = [];
  const indexes: number[] = [];
  const skipped: string[] = [];
  const offer = (tool: Fields, index: number, field: string): void => {
    const { type, tools: inner } = tool;
    if (typeof type !== 'string') {
      throw valueError({ field: `${field}.type`, message: `${field}.type must be a string.` });
    }
    const own = chatTool(tool, type);
    if (own !== undefined) {
      callable.push(own);
      indexes.push(index);
    } else if (type === 'namespace' && Array.isArray(inner)) {
      inner.filter(isObject).forEach((one, i) => offer(one, index, `${field}.tools[${i}]`));
    } else {
      skipped.push(skippedTool(type, field, unsupported));
    }
  };
  tools.forEach((tool, i) => offer(tool, i, `tools[${i}]`));
  return {
    tools: callable,
    toolChoice: chatChoice(choice, callable.length, skipped),
    indexes,
    skipped,
  };
}

function chatTool(tool: Fields, type: string): object | undefined {
  const { type: _type, ...rest } = tool;
  if (type === 'function') return { type, function: rest };
  if (type !== 'custom') return undefined;
  const { format } = rest;
  if (!isObject(format) || format['type'] !== 'grammar') return { type, custom: rest };
  const { syntax, definition } = format;
  return {
    type,
    custom: { ...rest, format: { type: 'grammar', grammar: { syntax, definition } } },
  };
}

/** The tool choice of the chat. Throws when the choice leaves only tools that are left out. */
function chatChoice(choice: unknown, callable: number, skipped: readonly string[]): unknown {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === 'string') {
    if (choice === 'required' && callable === 0 && skipped.length > 0) throw onlySkipped(skipped);
    return callable === 0 && skipped.length > 0 ? 'none' : choice;
  }
  if (!isObject(choice)) return choice;
  const { type, name } = choice;
  if (type === 'function' || type === 'custom') return { type, [type]: { name } };
  if (type === 'allowed_tools') return allowedTools(choice, skipped);
  if (typeof type === 'string' && skipped.includes(type)) throw onlySkipped([type]);
  return choice;
}

function allowedTools(choice: Fields, skipped: readonly string[]): object {
  const { mode, tools } = choice;
  const listed = Array.isArray(tools) ? (tools as unknown[]).filter(isObject) : [];
  const own = listed.filter(({ type }) => type === 'function' || type === 'custom');
  if (own.length === 0 && listed.length > 0) throw onlySkipped(skipped);
  const named = own.map(({ type, name }) => ({ type, [type as string]: { name } }));
  return { type: 'allowed_tools', allowed_tools: { mode, tools: named } };
}
