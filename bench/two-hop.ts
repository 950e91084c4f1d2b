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
