export { areBeatsSlow, Beat, quicken, SLOW_BEAT_MS } from './beat';
export { processMsOf, wallUsOf } from './instants';
export { LiveClock } from './live-clock';
export { LoopLag } from './loop-lag';
export { Punctuality } from './punctuality';
export type { PunctualityTimes } from './punctuality';
export { type Alarm, SystemWallClock, type WallClock } from './wall-clock';
