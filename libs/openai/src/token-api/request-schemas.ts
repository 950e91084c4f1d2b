import { schemaOf } from '../body/json-schema';
import { DerenderChatRequest, DerenderCompletionRequest } from './derender';
import { GenerateRequest } from './generate';
import { SglangGenerateRequest } from './sglang.dto';
import { DetokenizeRequest, TokenizeRequest } from './tokens.dto';

/** The bodies of requests in tokens, by their names in the OpenAPI description. */
export function tokenSchemas() {
  return {
    GenerateRequest: schemaOf(GenerateRequest),
    SglangGenerateRequest: schemaOf(SglangGenerateRequest),
    TokenizeRequest: schemaOf(TokenizeRequest),
    DetokenizeRequest: schemaOf(DetokenizeRequest),
    DerenderChatRequest: schemaOf(DerenderChatRequest),
    DerenderCompletionRequest: schemaOf(DerenderCompletionRequest),
  };
}
