import {
  type OwnScalePolicy,
  ROLES,
  type EngineView,
  type OwnSpec,
  type PlacementContext,
  type Policy,
} from '@baton/policies';
import { usToMs, usToSeconds } from '@baton/kernel';

/** Sends a question to the program and returns its action. */
export type Asking = (question: Readonly<Record<string, unknown>>) => unknown;

/** Name of the policy in errors. */
const PATH = 'the program';

/**
 * A plug-in placement policy that gets its choices from the program. An action is the index of an
 * engine.
 */
export function askedPlacement(ask: Asking): OwnSpec<Policy> {
  const choose = (context: PlacementContext): number =>
    ask({
      prompt_tokens: context.request.promptTokens,
      engines: context.engines.map((engine) => engineQuestion(engine, context)),
    }) as number;
  return { kind: 'own', path: PATH, module: { create: () => ({ choose }) } };
}

function engineQuestion(engine: EngineView, context: PlacementContext): Record<string, number> {
  const cached = context.cachedTokens(engine);
  const { promptTokens } = context.request;
  return {
    requests: engine.requests,
    waiting_requests: engine.waitingRequests,
    waiting_tokens: engine.waitingTokens,
    kv_usage: engine.kvUsage,
    cached_tokens: cached,
    prefill_ms: usToMs(context.prefillUs(engine, promptTokens - cached, cached)),
  };
}

/**
 * A plug-in autoscaler that gets its decisions from the program. An action has a count for each
 * role.
 */
export function askedScaling(ask: Asking): OwnSpec<OwnScalePolicy> {
  const decide: OwnScalePolicy['decide'] = ({ nowUs, counts, bounds, value }) => {
    const roles = ROLES.filter((role) => bounds.max[role] > 0).map((role) => ({
      role,
      engines: counts[role],
      waiting: value('waiting', role) ?? 0,
      running: value('running', role) ?? 0,
      kv_usage: value('kv', role) ?? 0,
    }));
    const [first] = roles;
    const ofCluster = (metric: 'rps' | 'ttft' | 'itl'): number => value(metric, first!.role) ?? 0;
    const action = ask({
      now_s: usToSeconds(nowUs),
      requests_per_second: ofCluster('rps'),
      ttft_s: ofCluster('ttft'),
      itl_s: ofCluster('itl'),
      roles,
    });
    return { counts: { ...counts, ...(action as object) } };
  };
  return { kind: 'own', path: PATH, module: { create: () => ({ decide }) } };
}
