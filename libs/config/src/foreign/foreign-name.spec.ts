import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configFromEnv } from '../child-config';
import { readConfigFile } from '../config-file';
import { resolveConfig } from '../resolve-config';

function resolved(content: string, env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-foreign-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'f.yaml');
  writeFileSync(file, content);
  return resolveConfig({ file, env });
}

const XPYD_SIM = `
mode: dual
port: 8123
latency:
  prefill_delay_ms: 80
  decode_delay_per_token_ms: 12.5
logging:
  request_log: requests.jsonl
scheduling:
  enabled: true
  max_model_len: 4096
  max_num_seqs: 32
`;

const LLM_D = `
engine: vllm
port: 8001
model: "meta-llama/Llama-3.1-8B-Instruct"
served-model-name:
- "model1"
- "model2"
max-num-seqs: 16
max-waiting-queue-length: 500
mode: random
latency-calculator: per-token
inter-token-latency: 12ms
inter-token-latency-std-dev: 2ms
prefill-overhead: 30ms
prefill-time-per-token: 250us
prefill-time-std-dev: 5ms
kv-cache-transfer-time-per-token: 3us
kv-cache-transfer-time-std-dev: 200us
time-factor-under-load: 2.0
max-loras: 2
max-cpu-loras: 4
`;

describe("xPyD-sim's configuration file", () => {
  it('is accepted with its own names, and its own defaults for missing delays', () => {
    const { config, notes } = resolved(XPYD_SIM);
    expect(config).toMatchObject({
      topology: '1A',
      port: 8123,
      stepTime: 'constant',
      timeToFirstToken: 80,
      kvCacheTransferLatency: 5,
      interTokenLatency: 12.5,
      maxModelLen: 4096,
      maxNumSeqs: 32,
    });
    expect(notes).toEqual([
      'logging.request_log has no effect: log_requests names a file for the events of requests.',
    ]);
  });

  it('may name a profile, which comes before delays', () => {
    const { config } = resolved('latency: {prefill_delay_ms: 9}\nprofile: fit.yaml\n');
    expect(config.stepTime).toBe('polynomial');
    expect(config.stepTimeFile).toBe('fit.yaml');
  });

  it('is overridden by the environment, including implied values', () => {
    const env = { BATON_INTER_TOKEN_LATENCY: '7', BATON_KV_CACHE_TRANSFER_LATENCY: '3ms' };
    const { config } = resolved('latency:\n  prefill_delay_ms: 9\n', env);
    expect([config.interTokenLatency, config.kvCacheTransferLatency]).toEqual([7, 3]);
  });
});

describe('variables of xPyD-sim', () => {
  it('set their options, below Baton’s own variables', () => {
    const env = {
      XPYD_SIM_DECODE_DELAY_PER_TOKEN_MS: '20',
      XPYD_SIM_MODEL: 'dummy',
      XPYD_SIM_MAX_NUM_SEQS: '8',
      BATON_MAX_NUM_SEQS: '9',
      XPYD_SIM_SCHEDULING_ENABLED: 'false',
    };
    const { config, notes } = resolveConfig({ env });
    expect(config).toMatchObject({
      stepTime: 'constant',
      timeToFirstToken: 50,
      interTokenLatency: 20,
      servedModelName: ['dummy'],
      maxNumSeqs: 9,
    });
    expect(notes).toEqual([
      'XPYD_SIM_SCHEDULING_ENABLED has no effect: Baton always batches requests.',
    ]);
    expect(configFromEnv(env)).toEqual(config);
  });

  it('do not hide values of a file by their defaults', () => {
    const { config } = resolved('latency: {prefill_delay_ms: 99}\n', {
      XPYD_SIM_KV_TRANSFER_DELAY_MS: '1',
    });
    expect([config.timeToFirstToken, config.kvCacheTransferLatency]).toEqual([99, 1]);
  });

  it('may ask for a key', () => {
    const { config } = resolveConfig({ env: { XPYD_SIM_REQUIRE_API_KEY: 'k' } });
    expect(config.apiKey).toEqual(['k']);
  });

  it.each([
    [
      { XPYD_SIM_PREFIL_DELAY_MS: '1' },
      'unknown environment variable XPYD_SIM_PREFIL_DELAY_MS; did you mean ' +
        'XPYD_SIM_PREFILL_DELAY_MS?',
    ],
    [{ XPYD_SIM_PREFILL_DELAY_MS: 'x' }, 'XPYD_SIM_PREFILL_DELAY_MS must be a number'],
    [{ XPYD_SIM_MODE: 'decode' }, 'XPYD_SIM_MODE is not supported: use a topology'],
  ])('are refused in one sentence: %j', (env, sentence) => {
    expect(() => resolveConfig({ env })).toThrow(sentence);
  });
});

describe("llm-d-inference-sim's configuration file", () => {
  it('is accepted unchanged, including durations', () => {
    const { config, notes } = resolved(LLM_D);
    expect(config).toMatchObject({
      port: 8001,
      servedModelName: ['model1', 'model2'],
      stepTime: 'per-token',
      maxNumSeqs: 16,
      maxWaitingRequests: 500,
      interTokenLatency: 12,
      interTokenLatencyStdDev: 2,
      prefillOverhead: 30,
      prefillTimePerToken: 0.25,
      prefillTimeStdDev: 5,
      kvCacheTransferTimePerToken: 0.003,
      timeFactorUnderLoad: 2,
      maxLoras: 2,
    });
    expect(notes.map((note) => note.split(' ')[0])).toEqual([
      'kv_cache_transfer_time_std_dev',
      'max_cpu_loras',
    ]);
  });

  it('may ask for an echo', () => {
    expect(resolved('mode: echo\n').config.textModel).toBe('echo');
  });

  it('may keep latencies and the KV cache in sections', () => {
    const { config } = resolved(
      'latencies:\n  time-to-first-token: 100ms\n  inter-token-latency: 1s\nkvcache:\n  ' +
        'kv-cache-size: 2048\n',
    );
    expect(config).toMatchObject({
      stepTime: 'constant',
      timeToFirstToken: 100,
      interTokenLatency: 1000,
      numGpuBlocksOverride: 2048,
    });
  });
});

describe('latencies without a model', () => {
  const stepTimeOf = (flags: Readonly<Record<string, string>>) => {
    const { config, origins } = resolveConfig({ flags });
    return [config.stepTime, origins.stepTime];
  };

  it('get the model of llm-d’s rule of precedence', () => {
    expect(stepTimeOf({ timeToFirstToken: '100ms' })).toEqual(['constant', 'implied']);
    expect(stepTimeOf({ prefillTimePerToken: '1' })).toEqual(['per-token', 'implied']);
    expect(stepTimeOf({ interTokenLatency: '1' })).toEqual(['per-token', 'implied']);
  });

  it('do not change a named model, nor the default when there are none', () => {
    expect(stepTimeOf({ stepTime: 'roofline', timeToFirstToken: '9' })).toEqual([
      'roofline',
      'flag',
    ]);
    expect(stepTimeOf({})).toEqual(['auto', 'default']);
  });
});

describe('unsupported settings', () => {
  it.each([
    ['eos:\n  min_ratio: 0.5\n', 'f.yaml:2:3: eos.min_ratio is not supported: Baton draws'],
    ['warmup: {requests: 3}\n', "warmup.requests is not supported: Baton's warm-up has steps"],
    ['mode: prefill\n', 'f.yaml:1:1: mode is not supported: use a topology'],
    ['self-signed-certs: true\n', 'self_signed_certs is not supported: certificates are given by'],
    ['engine: sglang\n', 'engine is not supported: engines behave like those of vLLM'],
    ['latency:\n  prefil_delay_ms: 1\n', "f.yaml:2:3: unknown option 'latency.prefil_delay_ms'"],
    ['latency: 5\n', "f.yaml:1:1: unknown option 'latency'"],
    ['latency: {prefill_delay_ms: fast}\n', 'time_to_first_token must be a number'],
    [
      'time_to_first_token: 1\nlatency: {prefill_delay_ms: 2}\n',
      'time_to_first_token is given twice',
    ],
  ])('%j is refused in one sentence', (content, sentence) => {
    expect(() => readConfigFile('f.yaml', content)).toThrow(sentence);
  });
});
