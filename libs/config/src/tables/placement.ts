import { POLICY_KINDS } from '@baton/policies';
import {
  choice,
  choiceOrModule,
  integer,
  number,
  optionalChoiceOrModule,
  optionalNumber,
} from '../option';

const POLICIES = ['pull', ...POLICY_KINDS] as const;

/** The choice of engines, and the admission of requests. Formulas: docs/policies.md. */
export const PLACEMENT = {
  placement: choiceOrModule(POLICIES, 'pull', {
    help:
      'How the engine for a prompt is chosen. With pull, an engine with room takes the oldest ' +
      'prompt. A policy, by name or as your own ES module (docs/policies.md), sends the prompt ' +
      'to one engine. `baton replay` of a recording also accepts recorded: the engines that ' +
      'each request had.',
  }),
  decodePlacement: optionalChoiceOrModule(POLICIES, {
    help: 'How the engine that decodes after a hand-over is chosen.',
    unset: 'as placement',
  }),
  placementFallback: choice(POLICY_KINDS, 'least-requests', {
    help: 'Policy that chooses when your own policy throws, returns no valid engine, or is slow.',
  }),
  decodeChoice: choice(['late', 'early'], 'late', {
    help:
      'When the decode engine is chosen: late, after the prompt is computed, or early, when ' +
      'the request arrives. No effect with placement pull.',
  }),
  /** 0 = off. */
  disaggregationThreshold: integer(0, [0, 1_048_576], {
    help:
      'Maximum number of uncached prompt tokens for which the decode engine computes the ' +
      'prompt itself, without prefill and hand-over; 0 = off.',
    unit: 'tokens',
  }),
  policyMetricsInterval: number(0, [0, 60_000], {
    help:
      'How long a router uses the same loads of the engines, to which it adds the requests ' +
      'that it sends; 0 = always the newest.',
    unit: 'ms, simulated',
  }),
  prefixBalanceThreshold: number(1, [1, 1_000], {
    help:
      'With placement prefix-aware, on stages that compute prompts: keep the engine with the ' +
      'longest prefix while its estimated TTFT is at most this many times the smallest.',
  }),
  prefixOverlapWeight: number(1, [0, 1_000], {
    help: 'With placement prefix-aware, on decode: tokens of load that one cached token outweighs.',
  }),
  stickyVirtualNodes: integer(128, [1, 4_096], {
    help: 'With placement session-sticky: number of points of each engine on the hash ring.',
  }),
  stickyLoadFactor: number(1.25, [1.001, 1_000_000], {
    help:
      'With placement session-sticky: maximum number of requests on an engine, as a multiple ' +
      'of the mean. Beyond it, the next engine on the ring takes the request.',
  }),
  admission: optionalChoiceOrModule(['all', 'slo-ttft'], {
    help:
      'Which requests are accepted; the others get 429. all accepts every request, slo-ttft ' +
      'those that are predicted to meet admission_slo_ttft or the TTFT of their SLO class, and ' +
      'your own ES module decides by its own rule (docs/policies.md).',
    unset: 'slo-ttft with admission_slo_ttft, else all',
  }),
  /** Simulated ms. */
  admissionSloTtft: optionalNumber([0.001, 86_400_000], {
    help:
      'Maximum predicted TTFT; a request with a higher prediction gets 429 slo_unattainable. ' +
      'If your own admission policy fails, this limit decides.',
    unit: 'ms, simulated',
    unset: 'no request is refused for its prediction',
  }),
} as const;
