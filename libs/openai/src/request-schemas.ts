import { EmbeddingDto, InputDto } from './embeddings/pooling.dto';
import { CountTokensDto, MessagesDto } from './messages/messages.dto';
import { ChatBatchDto } from './request/parse-chat-batch';
import { schemaOf } from './request/rules';
import type { JsonSchema } from './request/shapes';
import { StrictChatDto, StrictCompletionDto } from './request/strict.dto';
import { ConversationDto } from './responses/conversations';
import { ResponsesDto } from './responses/responses.dto';
import { RerankDto, ScoreDto } from './score/score.dto';
import { SglangGenerateDto } from './sglang/sglang-generate';
import { DerenderChatDto, DerenderCompletionDto } from './tokens/derender';
import { GenerateDto } from './tokens/generate';
import { DetokenizeDto, TokenizeTextDto } from './tokens/tokens.dto';

/** The bodies that requests may have, by the names that a description of the API gives them. */
export function requestSchemas() {
  return {
    ChatCompletionRequest: schemaOf(new StrictChatDto()),
    ChatCompletionBatchRequest: schemaOf(new ChatBatchDto()),
    CompletionRequest: schemaOf(new StrictCompletionDto()),
    ResponseRequest: schemaOf(new ResponsesDto()),
    ConversationRequest: schemaOf(new ConversationDto()),
    MessagesRequest: schemaOf(new MessagesDto()),
    CountTokensRequest: schemaOf(new CountTokensDto()),
    EmbeddingRequest: schemaOf(new EmbeddingDto()),
    PoolingRequest: schemaOf(new InputDto()),
    ScoreRequest: schemaOf(new ScoreDto()),
    RerankRequest: schemaOf(new RerankDto()),
    GenerateRequest: schemaOf(new GenerateDto()),
    SglangGenerateRequest: schemaOf(new SglangGenerateDto()),
    TokenizeRequest: schemaOf(new TokenizeTextDto()),
    DetokenizeRequest: schemaOf(new DetokenizeDto()),
    DerenderChatRequest: schemaOf(new DerenderChatDto()),
    DerenderCompletionRequest: schemaOf(new DerenderCompletionDto()),
  } satisfies Record<string, JsonSchema>;
}
