export { BlockList } from './block-list';
export { BlockPool, PrefixMatch } from './block-pool';
export type { BlockPoolOptions } from './block-pool';
export type { ContentWatcher } from './content-watcher';
