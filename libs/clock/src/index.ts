export { areTimersSlow, PeriodicTimer, speedUpTimers, SLOW_PERIOD_MS } from './timer-wheel';
export { processMsOf, wallUsOf } from './instants';
export { LiveClock } from './live-clock';
export { ProcessClock } from './liveness/process-clock';
export { type Lease, Standby, standBy } from './liveness/standby';
export { type Alarm, SystemWallClock, type WallClock } from './wall-clock';
