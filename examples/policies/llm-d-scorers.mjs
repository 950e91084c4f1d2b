// The scorers of llm-d and of the Gateway API Inference Extension, with the weights of its default
// configuration. Sources, in kubernetes-sigs/gateway-api-inference-extension,
// pkg/epp/scheduling/framework/plugins:
//   queue-scorer                  queuescorer/queue.go
//   kv-cache-utilization-scorer   scorer/kvcache_utilization.go
//   prefix-cache-scorer           multi/prefix/plugin.go
//   lora-affinity-scorer          scorer/lora_affinity.go; weight 1 as in llm-d's charts with it
//   max-score-picker              picker/max_score_picker.go
// and, in llm-d/llm-d-inference-scheduler, pkg/plugins:
//   session-affinity-scorer       scorer/session_affinity.go
//   prefix-based-pd-decider       profile/prefix_based_pd_decider.go
//
// The profile handler for prefill and decode skips prefill where the decode engine lacks fewer than
// nonCachedTokens of the prompt; in Baton that is --disaggregation-threshold nonCachedTokens - 1.
// Engines without adapters all score 0 for affinity, so their order stays.

export const WEIGHTS = { queue: 2, kvUtilisation: 2, prefix: 3, session: 0, lora: 1 };

export function queueScores(engines) {
  const sizes = engines.map(({ waitingRequests }) => waitingRequests);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return sizes.map((size) => (most === least ? 1 : (most - size) / (most - least)));
}

export const kvUtilisationScores = (engines) => engines.map(({ kvUsage }) => 1 - kvUsage);

export const prefixScores = (engines, { request, cachedTokens }) =>
  engines.map((engine) => Math.min(1, cachedTokens(engine) / request.promptTokens));

export const sessionScores = (engines, target) =>
  engines.map(({ engineId }) => (engineId === target ? 1 : 0));

export const loraScores = (engines, adapter) =>
  engines.map(({ adapters: { running = [], waiting = [], most = 0 } = {} }) => {
    if (running.includes(adapter)) return 1;
    const names = new Set([...running, ...waiting]);
    if (names.size < most) return 0.8;
    return waiting.includes(adapter) ? 0.6 : 0;
  });

/** Maximum number of known sessions. The oldest is dropped first. */
const MOST_SESSIONS = 100_000;

export default {
  create({ random }) {
    const homes = new Map();
    return {
      choose(context) {
        const { engines, request } = context;
        const queue = queueScores(engines);
        const kv = kvUtilisationScores(engines);
        const prefix = prefixScores(engines, context);
        const session = sessionScores(engines, homes.get(request.sessionKey));
        const lora = loraScores(engines, request.adapter);
        const totals = engines.map(
          (_, i) =>
            WEIGHTS.queue * queue[i] +
            WEIGHTS.kvUtilisation * kv[i] +
            WEIGHTS.prefix * prefix[i] +
            WEIGHTS.session * session[i] +
            WEIGHTS.lora * lora[i],
        );
        const best = Math.max(...totals);
        const tied = totals.flatMap((total, i) => (total === best ? [i] : []));
        const choice = tied.length === 1 ? tied[0] : tied[random.integer(tied.length)];
        if (WEIGHTS.session > 0 && request.sessionKey !== 0) {
          homes.delete(request.sessionKey);
          homes.set(request.sessionKey, engines[choice].engineId);
          if (homes.size > MOST_SESSIONS) homes.delete(homes.keys().next().value);
        }
        return choice;
      },
    };
  },
};
