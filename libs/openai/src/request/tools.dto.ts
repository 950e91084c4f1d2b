import {
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsObject,
  IsString,
  ValidateIf,
} from 'class-validator';
import { NAMED, Nested, OrText, RefusesUnknown } from '../body/declare';
import { SamplingFields } from './sampling.dto';

/** Fields of functions and of calls without effect: LangChain, LiteLLM and SDKs send them. */
export const OF_FUNCTIONS = new Set([
  'cache_control',
  'parsed_arguments',
  'provider_specific_fields',
]);

@RefusesUnknown(OF_FUNCTIONS)
export class FunctionField {
  @IsDefined() @IsString() name!: string;
  @IsString() description?: string | null;
  @IsObject() parameters?: Readonly<Record<string, unknown>> | null;
  @IsBoolean() strict?: boolean | null;
}

@RefusesUnknown()
export class CustomField {
  @IsDefined() @IsString() name!: string;
  @IsString() description?: string | null;
  @IsObject() format?: Readonly<Record<string, unknown>> | null;
}

/** The type of a tool determines its other required field. */
@RefusesUnknown(new Set(['cache_control']))
export class ToolField {
  @IsString() type?: string | null;

  @ValidateIf(({ type }: ToolField) => type !== 'custom')
  @IsDefined()
  @Nested(FunctionField)
  function?: FunctionField;

  @ValidateIf(({ type }: ToolField) => type === 'custom')
  @IsDefined()
  @Nested(CustomField)
  custom?: CustomField;
}

/** A word, or an object with the choice. */
export type ChoiceField = string | Readonly<Record<string, unknown>>;

/** The fields with which a chat request offers functions, including the older ones. */
export class ToolFields extends SamplingFields {
  @IsArray()
  @ArrayMinSize(1, NAMED)
  @Nested(ToolField, { each: true })
  tools?: readonly ToolField[] | null;

  @OrText() @IsObject() tool_choice?: ChoiceField | null;
  @IsBoolean() parallel_tool_calls?: boolean | null;
  @IsArray() @Nested(FunctionField, { each: true }) functions?: readonly FunctionField[] | null;
  @OrText() @IsObject() function_call?: ChoiceField | null;
}
