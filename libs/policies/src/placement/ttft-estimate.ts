import type { Micros } from '@baton/kernel';
import { fetchPays } from '@baton/kvcache';
import type { EngineView, PlacementContext } from './policy';

/**
 * Prompt tokens of a full step, used to time a queue of unknown prompts: vLLM's default
 * `max_num_batched_tokens`.
 */
const QUEUE_STEP_TOKENS = 8_192;

/**
 * The TTFT of Mooncake's Conductor (FAST'25, algorithm 1), in µs: the time until this engine would
 * have computed the prompt if it were sent there now. It is `T_queue + T_prefill(len, own prefix)`,
 * or with a KV pool `T_queue + T_transfer + T_prefill(len, best prefix)` if the engine would fetch
 * the best prefix.
 *
 * @param sharedTokens this engine's share of the prompt tokens that wait before this request in the
 * shared queue
 */
export function estimateTtftUs(
  context: PlacementContext,
  engine: EngineView,
  sharedTokens = 0,
): Micros {
  const { promptTokens } = context.request;
  const cached = Math.min(context.cachedTokens(engine), promptTokens - 1);
  const queue = queueUs(context, engine, engine.waitingTokens + sharedTokens);
  return queue + promptUs(context, engine, cached);
}

/**
 * Time of the prompt with the engine's own prefix or the longest one of the pool, as the engine
 * will decide.
 */
function promptUs(context: PlacementContext, engine: EngineView, ownTokens: number): Micros {
  const { request, pool } = context;
  const { promptTokens } = request;
  const computeUs = (cached: number): Micros =>
    context.prefillUs(engine, promptTokens - cached, cached);
  const poolTokens = Math.min(pool?.longestTokens() ?? 0, promptTokens - 1);
  if (pool === undefined || poolTokens <= ownTokens) return computeUs(ownTokens);
  const transferUs = pool.fetchUs(engine, poolTokens - ownTokens);
  const choice = { ownTokens, poolTokens, transferUs, computeUs };
  if (!fetchPays(choice, pool.balancingThreshold)) return computeUs(ownTokens);
  return transferUs + computeUs(poolTokens);
}

/**
 * Waiting prompts are computed together, so their time is that of full steps and a remaining
 * fraction of one. Their lengths are not known here; a step counts as one prompt of its length,
 * which overstates attention a little.
 */
function queueUs(context: PlacementContext, engine: EngineView, tokens: number): Micros {
  if (tokens <= 0) return 0;
  const step = Math.min(tokens, QUEUE_STEP_TOKENS);
  return (tokens / step) * context.prefillUs(engine, step, 0);
}
