import { isObject } from '@baton/kernel';
import { valueError } from '../refusal/request-error';
import type { ChoiceField, CustomField, FunctionField } from './tools.dto';

/** A tool that a request offers, from any of its fields. */
export type ToolDefinition =
  | { readonly kind: 'function'; readonly field: string; readonly definition: FunctionField }
  | { readonly kind: 'custom'; readonly field: string; readonly definition: CustomField };

/** The tools of a request, in one form for `tools` and for the older `functions`. */
export interface ToolSource {
  readonly definitions: readonly ToolDefinition[];
  readonly choice: ChoiceField;
  readonly isParallel: boolean;
  readonly isLegacy: boolean;
  /** Names of the two fields. */
  readonly listField: 'tools' | 'functions';
  readonly choiceField: 'tool_choice' | 'function_call';
}

/** The tools that the answer can or must call. */
export interface ToolWish {
  readonly kind: 'none' | 'auto' | 'required';
  /** Undefined: all tools. */
  readonly names: readonly string[] | undefined;
  /** Whether the request named one tool. */
  readonly isNamed: boolean;
}

/** Reads `tool_choice` or `function_call`. */
export function toolWish(source: ToolSource): ToolWish {
  const { choice, isLegacy } = source;
  const all = { names: undefined, isNamed: false };
  if (choice === 'none' || choice === 'auto') return { kind: choice, ...all };
  if (choice === 'required' && !isLegacy) return { kind: 'required', ...all };
  if (typeof choice === 'string') throw badChoice(source);
  const named = isLegacy ? choice : namedBy(choice);
  if (named !== undefined) {
    return { kind: 'required', names: [nameIn(named, source)], isNamed: true };
  }
  if (choice['type'] === 'allowed_tools') return allowedTools(source, choice['allowed_tools']);
  throw badChoice(source);
}

/** The part of a choice, or of an allowed tool, that contains the name. */
function namedBy(
  choice: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  const kind = choice['type'];
  if (kind !== 'function' && kind !== 'custom') return undefined;
  const named = choice[kind];
  return isObject(named) ? named : undefined;
}

function allowedTools(source: ToolSource, value: unknown): ToolWish {
  const mode = isObject(value) ? value['mode'] : undefined;
  const tools = isObject(value) ? value['tools'] : undefined;
  if ((mode !== 'auto' && mode !== 'required') || !Array.isArray(tools) || tools.length === 0) {
    throw badChoice(source);
  }
  const names = tools.map((tool: unknown) => {
    const named = isObject(tool) ? namedBy(tool) : undefined;
    if (named === undefined) throw badChoice(source);
    return nameIn(named, source);
  });
  return { kind: mode, names, isNamed: false };
}

/** The name of a tool of the request. Throws when the request has no such tool. */
function nameIn(choice: Readonly<Record<string, unknown>>, source: ToolSource): string {
  const { name } = choice;
  if (typeof name !== 'string') throw badChoice(source);
  if (source.definitions.some(({ definition }) => definition.name === name)) return name;
  const { choiceField: field, listField } = source;
  const message =
    listField === 'tools'
      ? 'The tool specified in `tool_choice` does not match any of the specified `tools`'
      : 'The function specified in `function_call` does not match any of the specified `functions`';
  throw valueError({ field, message, named: true });
}

function badChoice({ choice, choiceField: field, isLegacy }: ToolSource): Error {
  const shown = typeof choice === 'string' ? choice : JSON.stringify(choice);
  const words = isLegacy ? '"none" or "auto"' : '"none", "auto" or "required"';
  const kind = isLegacy ? 'functions' : 'tools';
  const message =
    `Invalid value for \`${field}\`: ${shown.slice(0, 200)}! Only named ${kind}, ${words} are ` +
    'supported.';
  return valueError({ field, message, named: true });
}
