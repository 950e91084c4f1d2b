import { IsBoolean, IsInt, IsObject, IsString } from 'class-validator';
import { Is } from '../body/declare';
import { TEXTS, TOKEN_ID_LISTS } from '../body/types';

/**
 * The supported fields of SGLang's native API (`GenerateReqInput` of
 * sglang/srt/managers/io_struct.py).
 */
export class SglangGenerateRequest {
  @Is(TEXTS) text?: string | readonly string[] | null;
  @Is(TOKEN_ID_LISTS) input_ids?: readonly number[] | readonly (readonly number[])[] | null;
  @IsObject() sampling_params?: Readonly<Record<string, unknown>> | null;
  @IsBoolean() stream?: boolean | null;
  @IsBoolean() return_logprob?: boolean | null;
  @IsInt() top_logprobs_num?: number | null;
  @IsString() rid?: string | null;
}
