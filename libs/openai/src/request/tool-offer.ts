import { isObject } from '@baton/kernel';
import {
  type Constraint,
  constrain,
  ConstraintError,
  type StructuredText,
  type OfferedTool,
  type ToolOffer,
} from '@baton/text';
import { type Dialect } from '../refusal/dialect';
import { valueError } from '../refusal/request-error';
import type { CallShape } from '../generation-request';
import type { RequestLimits } from '../limits';
import { fittingTools } from '../turn/fitting-tools';
import type { OpenTurn } from '../turn/open-turn';
import { type ToolDefinition, type ToolSource, type ToolWish, toolWish } from './tool-choice';
import type { ChoiceField, CustomField, FunctionField, ToolField, ToolFields } from './tools.dto';

/** llm-d-inference-sim's `tool-call-extra-call-probability`. */
const EXTRA_CALL_PROBABILITY = 0.45;
/** OpenAI's limit. */
const MAX_TOOLS = 128;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** The input of a tool that takes any text: a few words. */
const ANY_WORDS: Constraint = { kind: 'regex', pattern: '[a-z]{3,9}( [a-z]{2,9}){0,5}' };

export interface ToolUse {
  /** The tools in the prompt, as in the request. */
  readonly definitions: readonly object[];
  /** The tools that the answer can or must call. Undefined when it cannot call any. */
  readonly offer: ToolOffer | undefined;
  readonly shape: CallShape;
}

const PLAIN: CallShape = { kind: 'tools', finishReason: 'tool_calls' };
/** The offer of a request without tools. */
export const NO_TOOLS: ToolUse = { definitions: [], offer: undefined, shape: PLAIN };

/** The use of a request's tools at this point of its conversation. */
export function toolUse(dto: ToolFields, limits: RequestLimits, turn: OpenTurn): ToolUse {
  const source = sourceOf(dto, limits.dialect);
  if (source === undefined) return NO_TOOLS;
  checkNames(source, limits.dialect);
  const wish = toolWish(source);
  const shape = shapeOf(source, wish);
  const definitions = source.definitions.map(({ kind, definition }) => ({
    type: kind,
    [kind]: definition,
  }));
  if (wish.kind === 'none') return { definitions, offer: undefined, shape };
  const chosen = chosenTools(source, wish.names);
  const offer: ToolOffer = {
    tools: chosen.map(offered),
    isRequired: wish.kind === 'required',
    isParallel: source.isParallel && !wish.isNamed,
    ...callsWanted(chosen, turn, limits),
    extraCallProbability: limits.extraToolCallProbability ?? EXTRA_CALL_PROBABILITY,
  };
  return { definitions, offer, shape };
}

/**
 * Whether `auto` calls a tool, and which tools come first. A user's message calls the tools that
 * fit it, or the only tool; the result of a tool is answered in text, so that a loop of calls and
 * results ends. Where a call is required after a result, tools without a call so far come first, so
 * that agents that end with a call of their own tool reach it.
 */
function callsWanted(
  chosen: readonly ToolDefinition[],
  { userText, hasResult, called }: OpenTurn,
  { toolCallProbability }: RequestLimits,
): Pick<ToolOffer, 'callProbability' | 'preferred'> {
  const tools = chosen.map(({ definition }) => definition);
  const first = hasResult
    ? tools.filter(({ name }) => !called.has(name))
    : fittingTools(tools, userText ?? '');
  const fits = userText !== undefined && (first.length > 0 || tools.length === 1);
  return {
    callProbability: hasResult ? 0 : (toolCallProbability ?? (fits ? 1 : 0)),
    preferred: first.map(({ name }) => name),
  };
}

/** Undefined: the request has no tools. */
function sourceOf(dto: ToolFields, dialect: Dialect): ToolSource | undefined {
  const functions = dto.functions ?? [];
  if (dto.tools !== undefined && dto.tools !== null) {
    if (functions.length > 0) {
      throw valueError({ field: 'functions', message: 'functions cannot be used with tools.' });
    }
    return {
      definitions: dto.tools.map((tool, i) => definitionOf(tool, `tools[${i}]`, dialect)),
      choice: dto.tool_choice ?? 'auto',
      isParallel: dto.parallel_tool_calls ?? true,
      isLegacy: false,
      listField: 'tools',
      choiceField: 'tool_choice',
    };
  }
  refuseChoice(dto.tool_choice, 'tool_choice', 'tools');
  if (functions.length === 0) {
    refuseChoice(dto.function_call, 'function_call', 'functions');
    return undefined;
  }
  return {
    definitions: functions.map((definition, i) => {
      return { kind: 'function', field: `functions[${i}]`, definition };
    }),
    choice: dto.function_call ?? 'auto',
    isParallel: false,
    isLegacy: true,
    listField: 'functions',
    choiceField: 'function_call',
  };
}

/** Reads one tool. vLLM supports functions only. */
function definitionOf(tool: ToolField, place: string, dialect: Dialect): ToolDefinition {
  const type = tool.type ?? 'function';
  if (type === 'function' && tool.function !== undefined) {
    return { kind: type, field: `${place}.function`, definition: tool.function };
  }
  if (type === 'custom' && tool.custom !== undefined && dialect === 'openai') {
    return { kind: type, field: `${place}.custom`, definition: tool.custom };
  }
  const known = dialect === 'openai' ? "'function' or 'custom'" : "'function'";
  const message = `${place}.type must be ${known}, got '${type.slice(0, 100)}'.`;
  throw valueError({ field: `${place}.type`, message });
}

function refuseChoice(choice: ChoiceField | null | undefined, field: string, list: string): void {
  if (choice === undefined || choice === null || choice === 'none') return;
  const message = `When using \`${field}\`, \`${list}\` must be set.`;
  throw valueError({ field, message, named: true });
}

function checkNames({ definitions, listField }: ToolSource, dialect: Dialect): void {
  if (dialect !== 'openai') return;
  if (definitions.length > MAX_TOOLS) {
    const message =
      `${listField} must have at most ${MAX_TOOLS} entries, got ` + `${definitions.length}.`;
    const code = 'array_above_max_length';
    const beyond = { code, bound: MAX_TOOLS, got: definitions.length } as const;
    throw valueError({ field: listField, message, beyond });
  }
  for (const { field: place, definition } of definitions) {
    const { name } = definition;
    if (TOOL_NAME.test(name)) continue;
    const field = `${place}.name`;
    const message =
      `${field} must be up to 64 letters, digits, underscores and dashes, got ` +
      `'${name.slice(0, 100)}'.`;
    throw valueError({ field, message });
  }
}

function shapeOf({ isLegacy }: ToolSource, { isNamed }: ToolWish): CallShape {
  const usual = isLegacy ? 'function_call' : 'tool_calls';
  return { kind: isLegacy ? 'function' : 'tools', finishReason: isNamed ? 'stop' : usual };
}

function chosenTools(
  { definitions }: ToolSource,
  names: readonly string[] | undefined,
): readonly ToolDefinition[] {
  if (names === undefined) return definitions;
  return definitions.filter(({ definition }) => names.includes(definition.name));
}

/** A function with its arguments. Throws for parameters that no arguments can meet. */
function offered({ kind, definition, field }: ToolDefinition): OfferedTool {
  const text =
    kind === 'function'
      ? argumentsOf(definition, `${field}.parameters`)
      : inputOf(definition, `${field}.format`);
  return { kind, name: definition.name, arguments: text };
}

function argumentsOf({ name, parameters }: FunctionField, field: string): StructuredText {
  const what = `schema for function '${name.slice(0, 100)}'`;
  return constrained({ kind: 'arguments', schema: (parameters ?? {}) as never }, { field, what });
}

/** The input of a custom tool: any text, or a text of a grammar. */
function inputOf({ name, format }: CustomField, field: string): StructuredText {
  const what = `format of tool '${name.slice(0, 100)}'`;
  const type = format?.['type'] ?? 'text';
  if (type === 'text') return constrained(ANY_WORDS, { field, what });
  const grammar = format?.['grammar'];
  const { syntax, definition } = isObject(grammar) ? grammar : {};
  if (type === 'grammar' && typeof definition === 'string') {
    if (syntax === 'lark')
      return constrained({ kind: 'grammar', grammar: definition }, { field, what });
    if (syntax === 'regex')
      return constrained({ kind: 'regex', pattern: definition }, { field, what });
  }
  const message =
    `${field} must be of type 'text', or a 'grammar' with a definition and the syntax 'lark' ` +
    `or 'regex'.`;
  throw valueError({ field, message });
}

function constrained(
  constraint: Constraint,
  { field, what }: { readonly field: string; readonly what: string },
): StructuredText {
  try {
    return constrain(constraint);
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    throw valueError({ field, message: `Invalid ${what}: ${error.message}.` });
  }
}
