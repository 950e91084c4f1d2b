export { ERROR_TABLE, rootFolder, shippedErrors } from './error-files';
export { formatErrorTable, parseErrorTable, systemClassOf } from './error-table';
export type { ErrorFigure, ErrorRow } from './error-table';
export { crossValidate, learnErrors } from './learn-errors';
export type { Coverage, ErrorPoint } from './learn-errors';
export { deploymentErrors } from './model-errors';
export type { DeployedGpus } from './model-errors';
