export { processMsOf, wallUsOf } from './instants';
export { LiveClock } from './live-clock';
export { LAG_SAMPLING_MS, LoopLag } from './loop-lag';
export { type Alarm, SystemWallClock, type WallClock } from './wall-clock';
