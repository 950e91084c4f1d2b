export { prepareReplay, resolvedOptions } from './prepare-replay';
export { scaledReplay } from './scaled-replay';
export type { PreparedReplay, ReplayRequest } from './prepare-replay';
