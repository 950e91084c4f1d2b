export { areBeatsSlow, Beat, quicken, SLOW_BEAT_MS } from './beat';
export { processMsOf, wallUsOf } from './instants';
export { LiveClock } from './live-clock';
export { LoopLag } from './loop-lag';
export { Punctuality, type PunctualityTimes } from './punctuality';
export { type Alarm, SystemWallClock, type WallClock } from './wall-clock';
export { type Lease, LeaseTable } from './shared-memory/lease-table';
export { SharedInstant } from './shared-memory/shared-instant';
export { watchHeartbeat } from './shared-memory/watch-heartbeat';
