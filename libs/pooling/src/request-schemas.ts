import { schemaOf } from '@baton/openai';
import { EmbeddingDto, InputDto } from './pooling.dto';
import { RerankDto, ScoreDto } from './score.dto';

/** The bodies of prompts that are only computed, by their names in a description of the API. */
export function poolingSchemas() {
  return {
    EmbeddingRequest: schemaOf(new EmbeddingDto()),
    PoolingRequest: schemaOf(new InputDto()),
    ScoreRequest: schemaOf(new ScoreDto()),
    RerankRequest: schemaOf(new RerankDto()),
  };
}
