// vLLM's internal balancer of data-parallel ranks. Source: vllm-project/vllm,
// vllm/v1/engine/core_client.py (DPLBAsyncMPClient.get_core_engine_for_request):
//
//   score = waiting · 4 + running, the lowest wins, the first of equal ones
//
// Its counts are up to 100 ms old (vllm/v1/engine/coordinator.py), and requests that it sends
// meanwhile count as waiting: run it with --policy-metrics-interval 100.

export const scoreOf = ({ waitingRequests, requests }) =>
  waitingRequests * 4 + (requests - waitingRequests);

export default {
  create() {
    return {
      choose({ engines }) {
        const scores = engines.map(scoreOf);
        return scores.indexOf(Math.min(...scores));
      },
    };
  },
};
