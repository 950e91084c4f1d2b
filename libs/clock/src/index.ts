export { Beat } from './beat';
export { processMsOf, wallUsOf } from './instants';
export { LiveClock } from './live-clock';
export { LoopLag } from './loop-lag';
export { type Alarm, SystemWallClock, type WallClock } from './wall-clock';
