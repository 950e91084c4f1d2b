export { prepareReplay, resolvedOptions } from './prepare-replay';
export { scaledReplay } from './scaled-replay';
export { cachesText } from './saved-caches';
export type { PreparedReplay, ReplayRequest } from './prepare-replay';
