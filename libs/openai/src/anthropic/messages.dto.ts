import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
} from 'class-validator';
import { BY_SCHEMA, Holds, Nested, OrText } from '../body/declare';
import type { Complaint } from '../refusal/request-error';

/** vLLM's VLLM_MAX_STOP_STRINGS. */
const MAX_STOP_SEQUENCES = 4;

const ROLES: readonly unknown[] = ['user', 'assistant', 'system'];
const CHOICES: readonly unknown[] = ['auto', 'any', 'tool', 'none'];
const THINKING: readonly unknown[] = ['enabled', 'disabled', 'adaptive'];

function isWrongWord(word: unknown, known: readonly unknown[]): boolean {
  return typeof word === 'string' && !known.includes(word);
}

function messagesFault(messages: readonly AnthropicMessage[]): Complaint | undefined {
  if (messages.length === 0) return { message: 'messages: at least one message is required' };
  const wrong = messages.findIndex((message) => isWrongWord(message?.role, ROLES));
  if (wrong === -1) return undefined;
  return { message: `messages.${wrong}.role: Input should be 'user', 'assistant' or 'system'` };
}

function choiceFault({ type, name }: ToolChoice): Complaint | undefined {
  if (isWrongWord(type, CHOICES)) {
    return { message: "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'" };
  }
  return type === 'tool' && (name ?? null) === null
    ? { message: 'tool_choice.tool.name: Field required' }
    : undefined;
}

function thinkingFault({ type, budget_tokens: budget }: Thinking): Complaint | undefined {
  if (isWrongWord(type, THINKING)) {
    return { message: "thinking.type: Input should be 'enabled', 'disabled' or 'adaptive'" };
  }
  return typeof budget === 'number' && budget < 1
    ? { message: 'thinking.budget_tokens: Input should be greater than or equal to 1' }
    : undefined;
}

function outputFault({ format }: OutputConfig): Complaint | undefined {
  return isWrongWord(format?.type, ['json_schema'])
    ? { message: "output_config.format.type: Input should be 'json_schema'" }
    : undefined;
}

/** Its other fields are those of its type. */
export class Block {
  [field: string]: unknown;

  @IsDefined() @IsString() type!: string;
}

class TextBlock {
  @IsDefined() @IsString() type!: string;
  @IsDefined() @IsString() text!: string;
}

export class AnthropicMessage {
  @IsDefined() @IsString() role!: string;

  @IsDefined()
  @OrText()
  @IsArray()
  @Nested(Block, { each: true })
  content!: string | readonly Block[];
}

export class AnthropicTool {
  @IsString() type?: string | null;
  @IsDefined() @IsString() name!: string;
  @IsString() description?: string | null;
  @IsObject() input_schema?: Readonly<Record<string, unknown>> | null;
  @IsBoolean() strict?: boolean | null;
}

class ToolChoice {
  @IsDefined() @IsString() type!: 'auto' | 'any' | 'tool' | 'none';
  @IsString() name?: string | null;
  @IsBoolean() disable_parallel_tool_use?: boolean | null;
}

class Thinking {
  @IsDefined() @IsString() type!: 'enabled' | 'disabled' | 'adaptive';
  @IsInt() budget_tokens?: number | null;
}

class OutputFormat {
  @IsDefined() @IsString() type!: string;
  @IsObject() schema?: Readonly<Record<string, unknown>> | null;
}

class OutputConfig {
  @IsString() effort?: string | null;
  @Nested(OutputFormat) format?: OutputFormat | null;
}

class Metadata {
  @IsString() user_id?: string | null;
}

/** Body of POST /v1/messages/count_tokens: the fields that /v1/messages has too. */
export class CountTokensRequest {
  @IsString() model?: string | null;

  @IsDefined()
  @Holds(messagesFault)
  @IsArray()
  @Nested(AnthropicMessage, { each: true })
  messages!: readonly AnthropicMessage[];

  @OrText()
  @IsArray()
  @Nested(TextBlock, { each: true })
  system?: string | readonly TextBlock[] | null;

  @IsArray() @Nested(AnthropicTool, { each: true }) tools?: readonly AnthropicTool[] | null;
  @Holds(choiceFault) @Nested(ToolChoice) tool_choice?: ToolChoice | null;
  @Holds(thinkingFault) @Nested(Thinking) thinking?: Thinking | null;
}

/** Body of POST /v1/messages. Other fields are accepted and ignored. */
export class MessagesRequest extends CountTokensRequest {
  @IsDefined()
  @Holds((value: number) =>
    value >= 1 ? undefined : { message: 'max_tokens: Input should be greater than 0' },
  )
  @IsInt()
  max_tokens!: number;

  @IsArray()
  @IsString({ each: true })
  @ArrayMaxSize(MAX_STOP_SEQUENCES, BY_SCHEMA)
  stop_sequences?: readonly string[] | null;

  @IsBoolean() stream?: boolean | null;
  @IsNumber() temperature?: number | null;
  @IsNumber() top_p?: number | null;
  @IsInt() top_k?: number | null;
  @Nested(Metadata) metadata?: Metadata | null;
  @Holds(outputFault) @Nested(OutputConfig) output_config?: OutputConfig | null;
}
