export { BlockList } from './block-list';
export { BlockPool, PrefixMatch } from './block-pool';
export type { BlockPoolOptions } from './block-pool';
export type { ContentWatcher } from './content-watcher';
export { GroupMatch } from './group-match';
export { KvLayout } from './kv-layout';
export type { KvGroups } from './kv-layout';
export { WindowPhases } from './window-phases';
