export { BlockList } from './block-list';
export { BlockPool, type BlockPoolOptions, PrefixMatch } from './block-pool';
export type { ContentWatcher } from './content-watcher';
export { GroupMatch } from './group-match';
export { KvLayout, type KvGroups } from './kv-layout';
export {
  cacheFetchUs,
  cacheStateOf,
  fullestPeer,
  sharedCacheOf,
  type CacheState,
} from './peer-cache';
export { warmUp, type FreeContents } from './warm-up';
export { WindowPhases } from './window-phases';
export { fetchPays } from './pool/fetch-pays';
export { fetchTimeUs } from './pool/fetch-time';
export { KvPool } from './pool/kv-pool';
export { KvPoolMember, type KvPoolTerms } from './pool/member';
export { PoolFind } from './pool/pool-find';
export { PoolReader } from './pool/pool-reader';
