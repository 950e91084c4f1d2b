import { isObject } from '@baton/kernel';
import { Is, Within } from './rules';
import { SamplingDto } from './sampling.dto';
import { anyOf, BOOLEAN, arrayOf, OBJECT, recordOf, type Shape, STRING } from './shapes';

const FUNCTION = recordOf({
  name: { shape: STRING, isRequired: true },
  description: { shape: STRING },
  parameters: { shape: OBJECT },
  strict: { shape: BOOLEAN },
});

const CUSTOM = recordOf({
  name: { shape: STRING, isRequired: true },
  description: { shape: STRING },
  format: { shape: OBJECT },
});

const FUNCTION_TOOL = recordOf({
  type: { shape: STRING },
  function: { shape: FUNCTION, isRequired: true },
});

const CUSTOM_TOOL = recordOf({
  type: { shape: STRING },
  custom: { shape: CUSTOM, isRequired: true },
});

/** The type of a tool determines its other required fields. */
const TOOL: Shape = {
  ...FUNCTION_TOOL,
  schema: { anyOf: [FUNCTION_TOOL.schema, CUSTOM_TOOL.schema] },
  check: (value) =>
    (isObject(value) && value['type'] === 'custom' ? CUSTOM_TOOL : FUNCTION_TOOL).check(value),
};

export interface FunctionField {
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  readonly strict?: boolean | null;
}

export interface CustomField {
  readonly name: string;
  readonly description?: string | null;
  readonly format?: Readonly<Record<string, unknown>> | null;
}

export interface ToolField {
  readonly type?: string | null;
  readonly function?: FunctionField;
  readonly custom?: CustomField;
}

/** A word, or an object with the choice. */
export type ChoiceField = string | Readonly<Record<string, unknown>>;

/** The fields with which a chat request offers functions, including the older ones. */
export class ToolsDto extends SamplingDto {
  @Is(arrayOf(TOOL))
  @Within((value: readonly ToolField[]) =>
    value.length === 0
      ? {
          message:
            '`tools` must not be an empty array. Either provide at least one tool or omit ' +
            'the field entirely.',
          named: true,
          beyond: { code: 'empty_array', bound: 1, got: 0 },
        }
      : undefined,
  )
  tools?: readonly ToolField[] | null;

  @Is(anyOf(STRING, OBJECT))
  tool_choice?: ChoiceField | null;

  @Is(BOOLEAN)
  parallel_tool_calls?: boolean | null;

  @Is(arrayOf(FUNCTION))
  functions?: readonly FunctionField[] | null;

  @Is(anyOf(STRING, OBJECT))
  function_call?: ChoiceField | null;
}
