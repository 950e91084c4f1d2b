/** What an engine does: its role in the cluster, and the queue that feeds it. */
export type EngineRole = 'prefill' | 'decode' | 'aggregated';
