import { constrain, ConstraintError, type OfferedTool, type ToolOffer } from '@baton/text';
import { valueError } from '../errors/request-error';
import type { CallShape } from '../generation-request';
import type { Dialect, RequestLimits } from '../limits';
import { isObject } from './shapes';
import type { ChoiceField, FunctionField, ToolsDto } from './tools.dto';

const CALL_PROBABILITY = 0.5;
/** llm-d-inference-sim's `tool-call-extra-call-probability`. */
const EXTRA_CALL_PROBABILITY = 0.45;
/** OpenAI's. */
const MAX_TOOLS = 128;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** What a request says of functions, in one form for tools and for the older fields. */
export interface ToolUse {
  /** All functions that the model is told of. */
  readonly functions: readonly FunctionField[];
  /** Those that the answer may or must call; undefined: none. */
  readonly offer: ToolOffer | undefined;
  readonly shape: CallShape;
}

const PLAIN: CallShape = { kind: 'tools', finishReason: 'tool_calls' };

/** @param followsResult the conversation ends with a tool's result: then `auto` answers in text */
export function toolUse(dto: ToolsDto, limits: RequestLimits, followsResult: boolean): ToolUse {
  const source = sourceOf(dto);
  if (source === undefined) return { functions: [], offer: undefined, shape: PLAIN };
  checkNames(source, limits.dialect);
  const wish = wishOf(source);
  const shape = shapeOf(source, wish);
  if (wish.kind === 'none') return { functions: source.functions, offer: undefined, shape };
  const offer: ToolOffer = {
    tools: offered(source, wish.names),
    isRequired: wish.kind === 'required',
    isParallel: source.isParallel && !wish.isNamed,
    callProbability: followsResult ? 0 : (limits.toolCallProbability ?? CALL_PROBABILITY),
    extraCallProbability: limits.extraToolCallProbability ?? EXTRA_CALL_PROBABILITY,
  };
  return { functions: source.functions, offer, shape };
}

interface Source {
  readonly functions: readonly FunctionField[];
  readonly choice: ChoiceField;
  readonly isParallel: boolean;
  readonly isLegacy: boolean;
  /** Names of the two fields. */
  readonly listField: 'tools' | 'functions';
  readonly choiceField: 'tool_choice' | 'function_call';
}

/** Undefined: the request has no functions. */
function sourceOf(dto: ToolsDto): Source | undefined {
  const functions = dto.functions ?? [];
  if (dto.tools !== undefined && dto.tools !== null) {
    if (functions.length > 0) {
      throw valueError({ field: 'functions', message: 'functions cannot be used with tools.' });
    }
    return {
      functions: dto.tools.map((tool, i) => functionOf(tool.type ?? 'function', tool.function, i)),
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
    functions,
    choice: dto.function_call ?? 'auto',
    isParallel: false,
    isLegacy: true,
    listField: 'functions',
    choiceField: 'function_call',
  };
}

function functionOf(type: string, field: FunctionField, index: number): FunctionField {
  if (type === 'function') return field;
  const message = `tools[${index}].type must be 'function', got '${type.slice(0, 100)}'.`;
  throw valueError({ field: `tools[${index}].type`, message });
}

function refuseChoice(choice: ChoiceField | null | undefined, field: string, list: string): void {
  if (choice === undefined || choice === null || choice === 'none') return;
  const message = `When using \`${field}\`, \`${list}\` must be set.`;
  throw valueError({ field, message, named: true });
}

function checkNames({ functions, listField }: Source, dialect: Dialect): void {
  if (dialect !== 'openai') return;
  if (functions.length > MAX_TOOLS) {
    const message = `${listField} must have at most ${MAX_TOOLS} entries, got ${functions.length}.`;
    throw valueError({ field: listField, message });
  }
  functions.forEach(({ name }, i) => {
    if (TOOL_NAME.test(name)) return;
    const field = listField === 'tools' ? `tools[${i}].function.name` : `functions[${i}].name`;
    const message = `${field} must be up to 64 letters, digits, underscores and dashes, got '${name.slice(0, 100)}'.`;
    throw valueError({ field, message });
  });
}

interface Wish {
  readonly kind: 'none' | 'auto' | 'required';
  /** Undefined: all. */
  readonly names: readonly string[] | undefined;
  /** One function was named. */
  readonly isNamed: boolean;
}

function wishOf(source: Source): Wish {
  const { choice, isLegacy } = source;
  const all = { names: undefined, isNamed: false };
  if (choice === 'none' || choice === 'auto') return { kind: choice, ...all };
  if (choice === 'required' && !isLegacy) return { kind: 'required', ...all };
  if (typeof choice === 'string') throw badChoice(source);
  if (isLegacy) return { kind: 'required', names: [nameIn(choice, source)], isNamed: true };
  if (choice['type'] === 'function' && isObject(choice['function'])) {
    return { kind: 'required', names: [nameIn(choice['function'], source)], isNamed: true };
  }
  if (choice['type'] === 'allowed_tools') return allowedTools(source, choice['allowed_tools']);
  throw badChoice(source);
}

function allowedTools(source: Source, value: unknown): Wish {
  const mode = isObject(value) ? value['mode'] : undefined;
  const tools = isObject(value) ? value['tools'] : undefined;
  if ((mode !== 'auto' && mode !== 'required') || !Array.isArray(tools) || tools.length === 0) {
    throw badChoice(source);
  }
  const names = tools.map((tool: unknown) => {
    if (!isObject(tool) || !isObject(tool['function'])) throw badChoice(source);
    return nameIn(tool['function'], source);
  });
  return { kind: mode, names, isNamed: false };
}

/** The name of a function that the request has. */
function nameIn(choice: Readonly<Record<string, unknown>>, source: Source): string {
  const { name } = choice;
  if (typeof name !== 'string') throw badChoice(source);
  if (source.functions.some((field) => field.name === name)) return name;
  const { choiceField: field, listField } = source;
  const message =
    listField === 'tools'
      ? 'The tool specified in `tool_choice` does not match any of the specified `tools`'
      : 'The function specified in `function_call` does not match any of the specified `functions`';
  throw valueError({ field, message, named: true });
}

function badChoice({ choice, choiceField: field, isLegacy }: Source): Error {
  const shown = typeof choice === 'string' ? choice : JSON.stringify(choice);
  const words = isLegacy ? '"none" or "auto"' : '"none", "auto" or "required"';
  const message = `Invalid value for \`${field}\`: ${shown.slice(0, 200)}! Only named ${isLegacy ? 'functions' : 'tools'}, ${words} are supported.`;
  return valueError({ field, message, named: true });
}

function shapeOf({ isLegacy }: Source, { isNamed }: Wish): CallShape {
  const usual = isLegacy ? 'function_call' : 'tool_calls';
  return { kind: isLegacy ? 'function' : 'tools', finishReason: isNamed ? 'stop' : usual };
}

/** Throws for parameters that no arguments can fulfil. */
function offered(source: Source, names: readonly string[] | undefined): OfferedTool[] {
  const { functions, listField } = source;
  const tools: OfferedTool[] = [];
  functions.forEach(({ name, parameters }, i) => {
    if (names !== undefined && !names.includes(name)) return;
    const field =
      listField === 'tools' ? `tools[${i}].function.parameters` : `functions[${i}].parameters`;
    tools.push({ name, arguments: argumentsOf(name, parameters ?? {}, field) });
  });
  return tools;
}

function argumentsOf(name: string, parameters: object, field: string): OfferedTool['arguments'] {
  try {
    return constrain({ kind: 'arguments', schema: parameters as never });
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    const message = `Invalid schema for function '${name.slice(0, 100)}': ${error.message}.`;
    throw valueError({ field, message });
  }
}
