import { schemaOf } from '../request/rules';
import { EmbeddingDto, InputDto } from './pooling.dto';
import { RerankDto, ScoreDto } from './score.dto';

/** The bodies of the pooling endpoints, by their names in the OpenAPI description. */
export function poolingSchemas() {
  return {
    EmbeddingRequest: schemaOf(new EmbeddingDto()),
    PoolingRequest: schemaOf(new InputDto()),
    ScoreRequest: schemaOf(new ScoreDto()),
    RerankRequest: schemaOf(new RerankDto()),
  };
}
