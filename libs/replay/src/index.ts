export { prepareReplay, resolvedOptions } from './prepare-replay';
export type { PreparedReplay, ReplayRequest } from './prepare-replay';
