import { schemaOf } from '../request/rules';
import { DerenderChatDto, DerenderCompletionDto } from './derender';
import { GenerateDto } from './generate';
import { SglangGenerateDto } from './sglang/sglang-generate';
import { DetokenizeDto, TokenizeTextDto } from './tokens.dto';

/** The bodies of requests in tokens, by their names in the OpenAPI description. */
export function tokenSchemas() {
  return {
    GenerateRequest: schemaOf(new GenerateDto()),
    SglangGenerateRequest: schemaOf(new SglangGenerateDto()),
    TokenizeRequest: schemaOf(new TokenizeTextDto()),
    DetokenizeRequest: schemaOf(new DetokenizeDto()),
    DerenderChatRequest: schemaOf(new DerenderChatDto()),
    DerenderCompletionRequest: schemaOf(new DerenderCompletionDto()),
  };
}
