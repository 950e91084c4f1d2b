import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_VARIABLE, configFromEnv, configToJson } from './child-config';
import { resolveConfig } from './resolve-config';

const RULES = '[{"name":"busy","at":"queue","fault":"error","status":429,"retry_after":2}]';

describe('faults in the configuration', () => {
  let folder: string;

  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'baton-faults-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function fromFile(...lines: string[]): ReturnType<typeof resolveConfig> {
    const file = join(folder, 'baton.yaml');
    writeFileSync(file, lines.join('\n'));
    return resolveConfig({ file });
  }

  it('are a list in a file, or its JSON as a flag or variable', () => {
    const { config } = fromFile(
      'faults:',
      '  - name: busy',
      '    at: queue',
      '    fault: error',
      '    status: 429',
      '    retry-after: 2s',
    );
    expect(JSON.parse(config.faults ?? '')).toMatchObject(JSON.parse(RULES) as object);
    expect(resolveConfig({ flags: { faults: RULES } }).config.faults).toBe(RULES);
    expect(resolveConfig({ env: { BATON_FAULTS: RULES } }).config.faults).toBe(RULES);
  });

  it('reach child processes as they were read', () => {
    const { config } = resolveConfig({
      flags: { faults: RULES, fakeMetrics: '{"running-requests":3}', failureTypes: 'rate_limit' },
    });
    const child = configFromEnv({ [CONFIG_VARIABLE]: configToJson(config) });
    expect(child).toEqual(config);
  });

  it.each([
    [
      ['faults:', '  - at: queue', '    fault: error', '    rate: 2'],
      '4:11: faults[0].rate must be a number from 0.000001 to 1.',
    ],
    [
      ['faults:', '  - {at: queue, fault: cut}', '  - {at: queue, fault: stall}'],
      '3:24: faults[1].fault stall happens at stream, not at queue.',
    ],
    [
      ['faults:', '  - fault: cut'],
      '2:5: faults[0].at must be one of queue, prefill, transfer, decode, stream.',
    ],
    [['faults: 7'], '1:9: faults must be a list of rules.'],
    [
      ['failure-types: [rate_limit, fire]'],
      '1:16: failure_types must be a list of rate_limit, invalid_api_key, context_length, ' +
        'server_error, invalid_request, model_not_found.',
    ],
    [
      ['failure-injection-rate: 101'],
      '1:25: failure_injection_rate must be an integer from 0 to 100.',
    ],
    [
      ['fake-metrics:', '  kv-cache-usage: 2'],
      '2:19: fake_metrics.kv-cache-usage must be a number from 0 to 1, or oscillate, ramp, ' +
        'rampreset, squarewave like ramp:0:1:5s.',
    ],
    [
      ['fake-metrics:', '  ttft-buckets-values: [1]'],
      '2:24: fake_metrics.ttft-buckets-values cannot be faked; it may be running-requests, ' +
        'waiting-requests, kv-cache-usage, loras.',
    ],
  ])('are refused with line, column and one sentence: %j', (lines, sentence) => {
    expect(() => fromFile(...lines)).toThrow(`${join(folder, 'baton.yaml')}:${sentence}`);
  });

  it('are refused as a flag with the place in the list', () => {
    const refused =
      (faults: string): (() => unknown) =>
      () =>
        resolveConfig({ flags: { faults } });
    expect(refused('[{"at":"queue","fault":"x"}]')).toThrow('--faults[0].fault must be one of');
    expect(refused('busy')).toThrow('--faults must be a structure like [{');
  });

  it('take the names that llm-d has for failures, and lists with commas', () => {
    const { config } = resolveConfig({
      flags: { 'failure-injection-rate': '30', 'failure-types': 'rate_limit, server_error' },
    });
    expect(config.failureInjectionRate).toBe(30);
    expect(config.failureTypes).toEqual(['rate_limit', 'server_error']);
    const file = fromFile('fake-metrics-refresh-interval: 100ms');
    expect(file.notes[0]).toContain('fake_metrics_refresh_interval has no effect');
  });
});
