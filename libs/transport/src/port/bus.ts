/**
 * Messages without delivery guarantee. A subscriber can miss messages of a publisher and gets the
 * others in order.
 */
export interface Bus {
  publish(channel: string, payload: Buffer): void;
  subscribe(channel: string, listener: (payload: Buffer) => void): Promise<Unsubscribe>;
}

export type Unsubscribe = () => Promise<void>;

export const channels = {
  api: (apiId: string): string => `api:${apiId}`,
  engine: (engineId: string): string => `engine:${engineId}`,
  /** All workers listen: JSON `{ requestIds: string[] }`. */
  aborts: 'aborts',
  /** All workers and API processes listen: JSON `Operation`. */
  operations: 'operations',
  /** The sender of the operation listens for JSON `OperationReply`. */
  replies: (operationId: string): string => `replies:${operationId}`,
  /** All API processes listen: the id of a response. */
  cancelledResponses: 'cancelled-responses',
  /**
   * All API processes listen: JSON `{ id, from }`, a request for the events of a response from
   * `from` on.
   */
  followedResponses: 'followed-responses',
  /** The events of a response, as a stream sends them; API processes that follow it subscribe. */
  responseEvents: (id: string): string => `response-events:${id}`,
  /** One API process listens: JSON `EngineFacts`. */
  timelines: (apiId: string): string => `timelines:${apiId}`,
  /** All API processes listen: JSON `{ id, replyTo }`, a request for the timeline of a request. */
  timelineQuestions: 'timeline-questions',
  /** All API processes listen for changes of the list of LoRA adapters. */
  adapters: 'adapters',
  /** Processes with settings that change at run time listen for changes of them. */
  settings: 'settings',
  /** Engines of a KV pool listen: JSON `KvPoolMessage`. */
  kvPool: 'kv-pool',
  /**
   * All API processes listen: JSON `PolicyFault`, of a user's policy outside of them.
   */
  policyFaults: 'policy-faults',
  /** Routers listen: JSON `EngineLoad`. */
  loads: 'loads',
} as const;
