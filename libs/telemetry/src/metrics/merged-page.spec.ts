import { describe, expect, it } from 'vitest';
import { countedPart, mergePages } from './merged-page';

const page = (count: number, memory: number, extra = ''): string =>
  [
    '# HELP vllm:request_success_total Finished requests.',
    '# TYPE vllm:request_success_total counter',
    `vllm:request_success_total{engine="0",finished_reason="stop"} ${count}`,
    '# HELP vllm:e2e_request_latency_seconds Latency.',
    '# TYPE vllm:e2e_request_latency_seconds histogram',
    `vllm:e2e_request_latency_seconds_bucket{engine="0",le="1"} ${count}`,
    `vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf"} ${count + 1}`,
    `vllm:e2e_request_latency_seconds_sum{engine="0"} ${count / 2}`,
    `vllm:e2e_request_latency_seconds_count{engine="0"} ${count + 1}`,
    '# HELP process_resident_memory_bytes Memory.',
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${memory}`,
    '# HELP baton:queue_depth Jobs.',
    '# TYPE baton:queue_depth gauge',
    `baton:queue_depth{stage="prefill"} ${memory}`,
    '# HELP baton:engines_lost_total Lost.',
    '# TYPE baton:engines_lost_total counter',
    'baton:engines_lost_total{stage="decode"} 1',
    extra,
  ].join('\n');

const LINES = (text: string): string[] => text.split('\n').filter((line) => !line.startsWith('#'));

describe('the pages of several API processes', () => {
  it('are one: sums of what each counted, and the gauges of the cluster once', () => {
    const lines = LINES(mergePages([page(2, 100), page(3, 7)]));
    expect(lines).toEqual([
      'vllm:request_success_total{engine="0",finished_reason="stop"} 5',
      'vllm:e2e_request_latency_seconds_bucket{engine="0",le="1"} 5',
      'vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf"} 7',
      'vllm:e2e_request_latency_seconds_sum{engine="0"} 2.5',
      'vllm:e2e_request_latency_seconds_count{engine="0"} 7',
      'process_resident_memory_bytes 107',
      'baton:queue_depth{stage="prefill"} 100',
      'baton:engines_lost_total{stage="decode"} 1',
      '',
    ]);
  });

  it('keep a series and a family that one of them alone has', () => {
    const extra = [
      '# HELP baton:faults_injected_total Faults.',
      '# TYPE baton:faults_injected_total counter',
      'baton:faults_injected_total{fault="delay"} 4',
      'vllm:request_success_total{engine="1",finished_reason="stop"} 9',
      '',
    ].join('\n');
    const lines = LINES(mergePages([page(2, 100), page(3, 7, extra)]));
    expect(lines).toContain('baton:faults_injected_total{fault="delay"} 4');
    expect(lines).toContain('vllm:request_success_total{engine="1",finished_reason="stop"} 9');
  });

  it('stay as they are when there is one', () => {
    expect(mergePages([page(2, 100)])).toBe(page(2, 100));
    expect(mergePages([])).toBe('');
  });

  it('never count backwards when a process has ended', () => {
    const ended = countedPart(page(3, 7));
    expect(ended).not.toContain('process_resident_memory_bytes');
    const lines = LINES(mergePages([page(2, 100), ended]));
    expect(lines).toContain('vllm:request_success_total{engine="0",finished_reason="stop"} 5');
    expect(lines).toContain('process_resident_memory_bytes 100');
  });
});
