export { assert, InvariantError, unreachable } from './assert';
export { DEEPEST_US, unitsLeft, unitUs } from './cell-rate';
export { Chain, type ChainLink } from './containers/chain';
export {
  clearDeadline,
  type Deadline,
  DeadlineList,
  newDeadline,
} from './containers/deadline-list';
export { HashedIndex } from './containers/hashed-index';
export { RecentContents } from './containers/recent-contents';
export { Fifo } from './containers/fifo';
export { Tournament } from './containers/tournament';
export { truncate } from './containers/truncate';
export { csvFields, type CsvRow, parseCsv } from './csv';
export { parseDuration } from './duration';
export { editDistance, nearestName } from './edit-distance';
export { engineName, nameParts, type NameParts, ROLE_LETTERS } from './engine-name';
export { EventQueue } from './event-queue';
export { Failure } from './failure';
export { makeFolder } from './files/make-folder';
export { chainBlockHashes, hashString, mix, unitOf } from './hash';
export { countIn, fieldsIn, isObject, objectIn, textIn, type JsonFields } from './json';
export { lastSegment } from './last-segment';
export { RandomStream } from './random-stream';
export { isSystemError, reasonOf } from './reason';
export { Signal } from './signal';
export { mean } from './statistics/mean';
export { NormalEquations } from './statistics/normal-equations';
export { median, quantile } from './statistics/quantile';
export { startupLength, startupPhases, type StartupPhase, type StartupTimes } from './startup';
export { msToUs, NOT_YET, secondsToUs, usToMs, usToSeconds, type Clock, type Micros } from './time';
export { TurnShare } from './turn-share';
export { Turns, TurnsFull } from './turns';
export { VERSION } from './version';
export { spendWork, withinWork, WorkExceeded, workSpent } from './work-meter';
