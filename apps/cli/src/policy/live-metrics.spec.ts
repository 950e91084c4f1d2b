import { describe, expect, it } from 'vitest';
import { policyMetricsIn } from './live-metrics';

const PAGE = `
# HELP baton:engine_info Engines.
baton:engine_info{engine="0",model_name="m",stage="prefill"} 1
baton:engine_info{engine="1",model_name="m",stage="prefill"} 1
baton:engine_info{engine="2",model_name="m",stage="decode"} 1
baton:step_seconds_total{engine="0",model_name="m"} 3
baton:step_seconds_total{engine="1",model_name="m"} 1
baton:step_seconds_total{engine="2",model_name="m"} 9
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 100
vllm:prefix_cache_queries_total{engine="1",model_name="m"} 300
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 40
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 60
baton:policy_faults_total{policy="a.mjs",kind="throw"} 2
baton:policy_faults_total{policy="a.mjs",kind="slow"} 1
baton:policy_decisions_total{kind="placement",policy="a.mjs",stage="prefill"} 40
baton:policy_decision_seconds_total{kind="placement",policy="a.mjs",stage="prefill"} 0.02
baton:engines{stage="prefill",state="starting"} 1
baton:engines{stage="prefill",state="ready"} 2
baton:engine_seconds_total{stage="prefill"} 12.5
process_cpu_seconds_total 4
`;

describe('the metrics of a live cluster', () => {
  it('give the faults of a policy, its hits, and the imbalance of the worst role', () => {
    const figures = { policyFaults: 3, prefixHitRate: 0.25, imbalance: 1.5 };
    expect(policyMetricsIn(PAGE)).toMatchObject(figures);
  });

  it('give the decisions of the router with their time, and the engines of each role', () => {
    expect(policyMetricsIn(PAGE)).toMatchObject({
      decisions: [{ kind: 'placement', stage: 'prefill', count: 40, seconds: 0.02 }],
      engines: new Map([['prefill', 3]]),
      engineSeconds: new Map([['prefill', 12.5]]),
    });
  });

  it('give neither hits nor imbalance before the first request', () => {
    const idle = PAGE.replaceAll(/\} \d+$/gm, '} 0').replace(/^baton:policy.*$/gm, '');
    const unknown = { prefixHitRate: null, imbalance: null };
    expect(policyMetricsIn(idle)).toMatchObject({ policyFaults: 0, ...unknown });
  });
});
