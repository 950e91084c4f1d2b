import { schemaOf } from '../body/json-schema';
import { EmbeddingRequest, PoolingRequest } from './pooling.dto';
import { RerankRequest, ScoreRequest } from './score.dto';

/** The bodies of the pooling endpoints, by their names in the OpenAPI description. */
export function poolingSchemas() {
  return {
    EmbeddingRequest: schemaOf(EmbeddingRequest),
    PoolingRequest: schemaOf(PoolingRequest),
    ScoreRequest: schemaOf(ScoreRequest),
    RerankRequest: schemaOf(RerankRequest),
  };
}
