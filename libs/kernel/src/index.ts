export { assert, InvariantError, unreachable } from './assert';
export { parseDuration } from './duration';
export { EventQueue } from './event-queue';
export { chainBlockHashes, hashString, mix, unitOf } from './hash';
export { RandomStream } from './random-stream';
export { msToUs, secondsToUs, usToMs, usToSeconds } from './time';
export type { Clock, Micros } from './time';
