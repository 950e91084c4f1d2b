import type { PlacementRequest } from './policy';
import { PrefixMemory } from './prefix-memory';

/** The prefix memories of all engines that a router sends to, in tokens. */
export class PrefixDirectory {
  private readonly memories = new Map<string, PrefixMemory>();

  /** @param blockTokens tokens per hash of the requests */
  constructor(private readonly blockTokens: number) {}

  /** An engine joined, or came back empty. @param kvTokens capacity of its KV cache */
  join(engineId: string, kvTokens: number): void {
    this.memories.set(engineId, new PrefixMemory(Math.floor(kvTokens / this.blockTokens)));
  }

  /** Removes an engine. */
  leave(engineId: string): void {
    this.memories.delete(engineId);
  }

  /** Records that the engine was sent the request. An engine that never joined is ignored. */
  record(engineId: string, request: PlacementRequest): void {
    this.memories.get(engineId)?.record(request);
  }

  /**
   * Prompt tokens that the engine probably holds: less than the prompt, whose last token is always
   * computed.
   */
  cachedTokens(engineId: string, request: PlacementRequest): number {
    const blocks = this.memories.get(engineId)?.match(request) ?? 0;
    const usable = Math.floor((request.promptTokens - 1) / this.blockTokens);
    return Math.min(blocks, usable) * this.blockTokens;
  }

  /** The most of `cachedTokens` over all engines. */
  longestTokens(request: PlacementRequest): number {
    let longest = 0;
    for (const engineId of this.memories.keys()) {
      longest = Math.max(longest, this.cachedTokens(engineId, request));
    }
    return longest;
  }
}
