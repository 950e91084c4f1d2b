export { parseClassify, parseEmbeddings, parsePooling } from './parse-embeddings';
export { parseRerank, parseScore } from './parse-score';
export type { PoolingContext, PoolingTask } from './pooling-task';
export { poolingSchemas } from './request-schemas';
