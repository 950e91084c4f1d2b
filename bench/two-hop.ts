/**
 * The sides of a two-hop measurement: the sender, which also receives the results, and the workers
 * of both hops.
 */
export interface Sender {
  send(id: string): void;
  onBack(listener: (id: string) => void): Promise<void>;
  close(): Promise<void>;
}

export type Hop = 'first' | 'second';

export interface TwoHop {
  openSender(url: string): Promise<Sender>;
  /** Carries requests until the process ends. */
  startWorker(url: string, hop: Hop): Promise<void>;
}

/** About as large as a job of a prompt with 1,024 tokens. */
export const BLOCK_HASHES: readonly number[] = Array.from(
  { length: 72 },
  (_, i) => 4_503_599_627_370_496 + i * 7_919,
);

/** The result of a request. */
export const RESULT = { reason: 'stop', tokens: 1 } as const;

/** The parameters of a hand-over, as large as those of such a prompt. */
export const PARAMS = {
  do_remote_prefill: true,
  do_remote_decode: false,
  remote_block_ids: [Array.from({ length: 64 }, (_, i) => i)],
  remote_engine_id: 'bench-engine',
  remote_request_id: 'bench-request',
  remote_host: '127.0.0.1',
  remote_port: 5_600,
  tp_size: 1,
  remote_num_tokens: 1_024,
  remote_blocks_expiry_time: null,
  transfer_mode: 'pull',
} as const;
