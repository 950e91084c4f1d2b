import type { EngineSequence } from './sequence';
import type { EngineCounters } from './port/engine-port';

/**
 * The engine's counters since its start. Each prompt token is counted once, by the first source of
 * its KV. A recomputation after a preemption is not counted again, so computed + cached +
 * transferred = prompt tokens.
 */
export class Accounts implements EngineCounters {
  steps = 0;
  promptTokensComputed = 0;
  promptTokensCached = 0;
  promptTokensLoadedFromHost = 0;
  promptTokensFetched = 0;
  promptTokensTransferred = 0;
  generatedTokens = 0;
  preemptions = 0;
  prefixQueriesTokens = 0;
  prefixHitsTokens = 0;
  finished = 0;
  /** Held prompts that were released. */
  released = 0;
  aborted = 0;
  rejected = 0;
  drafts = 0;
  draftTokens = 0;
  acceptedTokens = 0;
  readonly acceptedPerPosition: number[];

  /** @param draftTokens  tokens drafted per sequence and step, 0 without speculation */
  constructor(draftTokens: number) {
    this.acceptedPerPosition = new Array<number>(draftTokens).fill(0);
  }

  /** Counts the first lookup of a prompt in the prefix cache. */
  query(seq: EngineSequence, hitTokens: number): void {
    if (seq.wasQueried) return;
    seq.wasQueried = true;
    this.prefixQueriesTokens += seq.promptTokens;
    this.prefixHitsTokens += hitTokens;
  }

  /** Counts that the first `tokens` tokens of the sequence are in KV, the last of them computed. */
  computed(seq: EngineSequence, tokens: number): void {
    this.promptTokensComputed += this.news(seq, tokens);
  }

  /**
   * Counts that the first `tokens` tokens were already in KV, the last `hostTokens` and
   * `poolTokens` of them in the memory of this node and of others.
   */
  cached(seq: EngineSequence, tokens: number): void {
    const fresh = this.news(seq, tokens);
    this.promptTokensCached += fresh;
    const { hostTokens, poolTokens } = seq;
    if (hostTokens + poolTokens === 0) return;
    const behindPrompt = Math.max(0, tokens - seq.promptTokens);
    const loaded = Math.min(fresh, Math.max(0, hostTokens + poolTokens - behindPrompt));
    const fetched = Math.min(loaded, poolTokens);
    this.promptTokensFetched += fetched;
    this.promptTokensLoadedFromHost += loaded - fetched;
  }

  transferred(seq: EngineSequence, tokens: number): void {
    this.promptTokensTransferred += this.news(seq, tokens);
  }

  /** Counts a draft of one sequence whose first `accepted` tokens were right. */
  drafted(tokens: number, accepted: number): void {
    this.drafts++;
    this.draftTokens += tokens;
    this.acceptedTokens += accepted;
    for (let position = 0; position < accepted; position++) this.acceptedPerPosition[position]!++;
  }

  private news(seq: EngineSequence, tokens: number): number {
    const upTo = Math.min(tokens, seq.promptTokens);
    const fresh = Math.max(0, upTo - seq.accountedTokens);
    seq.accountedTokens += fresh;
    return fresh;
  }
}
