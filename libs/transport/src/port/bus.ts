/** Fire-and-forget messages; a subscriber may miss, never reorder, what one publisher sends. */
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
  /** Who asked for one operation listens: JSON `OperationReply`. */
  replies: (operationId: string): string => `replies:${operationId}`,
  /** All API processes listen: the id of a response. */
  cancelledResponses: 'cancelled-responses',
  /**
   * All API processes listen: JSON `{ id, from }`, who wants the events of a response and from
   * which on.
   */
  followedResponses: 'followed-responses',
  /** API processes that follow a response listen: its events as they go over a stream. */
  responseEvents: (id: string): string => `response-events:${id}`,
  /** One API process listens: JSON `EngineFacts`. */
  timelines: (apiId: string): string => `timelines:${apiId}`,
  /** All API processes listen: JSON `{ id, replyTo }`, who knows the timeline of a request. */
  timelineQuestions: 'timeline-questions',
  /** All API processes listen: the list of LoRA adapters has changed. */
  adapters: 'adapters',
  /** Whoever obeys settings that change at run time listens: they have changed. */
  settings: 'settings',
  /** Routers listen: JSON `EngineLoad`. */
  loads: 'loads',
} as const;
