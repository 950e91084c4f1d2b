export { AttentionTable } from './attention-tables';
export type { AttentionShape } from './attention-tables';
export { lowerBound } from './curve';
export type { ExpertShape } from './expert-table';
export type { LatentAttentionTable } from './latent-attention-table';
export type { OperatorFormat } from './number-format';
export { OperatorTables } from './operator-tables';
export type { OperatorTexts } from './operator-texts';
export { elementwiseUs } from './system-facts';
