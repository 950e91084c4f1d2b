import type { WallClock } from '@baton/clock';
import type { MembershipOrder } from '@baton/contract';
import type { Logger } from '@baton/telemetry';
import type {
  Bus as BusPort,
  DocumentStore,
  JobQueues,
  RequestLedger,
  Transport,
} from '@baton/transport';
import type { JobRouting } from '../routing/job-routing';
import type { DriverOptions } from './options';

/**
 * What an engine gets from outside. Each name is the class by which Nest finds the dependency and,
 * as a type, the dependency itself, so that a constructor needs no `@Inject`.
 */
type Token<Given> = abstract new () => Given;

/** The options of this engine. */
export const HostOptions = class HostOptions {} as unknown as Token<DriverOptions>;
export type HostOptions = DriverOptions;

/** The connection to the other processes, and below it its parts. */
export const Broker = class Broker {} as unknown as Token<Transport>;
export type Broker = Transport;

export const Bus = class Bus {} as unknown as Token<BusPort>;
export type Bus = BusPort;

export const Jobs = class Jobs {} as unknown as Token<JobQueues>;
export type Jobs = JobQueues;

export const Ledger = class Ledger {} as unknown as Token<RequestLedger>;
export type Ledger = RequestLedger;

export const Documents = class Documents {} as unknown as Token<DocumentStore>;
export type Documents = DocumentStore;

/** The queue of each job. */
export const Routing = class Routing {} as unknown as Token<JobRouting>;
export type Routing = JobRouting;

export const Wall = class Wall {} as unknown as Token<WallClock>;
export type Wall = WallClock;

/** The log, with the engine's name from its first announcement. */
export const Log = class Log {} as unknown as Token<Logger>;
export type Log = Logger;

/**
 * Called for orders that the owner of the engine carries out: an engine of several ranks leaves as
 * one.
 */
export const Orders = class Orders {} as unknown as Token<Orders>;
export type Orders = (order: MembershipOrder) => void;

/** Ends this process for an injected fault, without any clean-up, as a power cut would. */
export const EndProcess = class EndProcess {} as unknown as Token<EndProcess>;
export type EndProcess = () => void;
