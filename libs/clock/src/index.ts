export { areTimersSlow, PeriodicTimer, speedUpTimers, SLOW_PERIOD_MS } from './timer-wheel';
export { processMsOf, wallUsOf } from './instants';
export { LiveClock } from './live-clock';
export { LoopLag } from './loop-lag';
export { ProcessClock } from './process-clock';
export { type Alarm, SystemWallClock, type WallClock } from './wall-clock';
export { type Lease, LeaseTable } from './shared-memory/lease-table';
export { SharedInstant } from './shared-memory/shared-instant';
export { watchHeartbeat } from './shared-memory/watch-heartbeat';
