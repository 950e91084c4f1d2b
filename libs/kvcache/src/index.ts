export { BlockList } from './block-list';
export { BlockPool, PrefixMatch, type BlockPoolOptions } from './block-pool';
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
export { fetchPays, type FetchChoice } from './pool/fetch-pays';
export { fetchTimeUs } from './pool/fetch-time';
export { KvPool, type PoolListener } from './pool/kv-pool';
export { KvPoolMember, type KvPoolTerms, type MemberCounters } from './pool/member';
export { PoolFind } from './pool/pool-find';
export { PoolReader, type NamedBlocks, type ReaderCosts, type PoolWish } from './pool/pool-reader';
