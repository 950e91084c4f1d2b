import { nearestName } from '@baton/kernel';
import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configFromEnv, configToJson } from './child-config';
import {
  configForStage,
  configKeys,
  defaultConfig,
  optionOf,
  SECTIONS,
  withoutSecrets,
} from './config';
import { readConfigFile } from './config-file';
import { configSchema } from './config-schema';
import { envName, fileName, flagName, keyOf } from './names';
import { readText } from './read-value';
import { recordableConfig } from './recorded-values';
import { resolveConfig, unknownFlag } from './resolve-config';

function fileWith(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'baton.yaml');
  writeFileSync(path, content);
  return path;
}

describe('the table of options', () => {
  it('has a valid default for every option', () => {
    for (const key of configKeys()) {
      const option = optionOf(key);
      if (option.default === undefined) continue;
      expect(readText(option, String(option.default)), key).toEqual({
        kind: 'value',
        value: option.default,
      });
    }
  });

  it('puts every option into exactly one section, with a help text', () => {
    expect(SECTIONS.flatMap((section) => section.keys)).toEqual([...configKeys()]);
    for (const key of configKeys()) expect(optionOf(key).help, key).toMatch(/\.$/);
  });

  it('describes the effect of every unset option', () => {
    const silent = configKeys().filter(
      (key) => optionOf(key).default === undefined && optionOf(key).unset === undefined,
    );
    expect(silent).toEqual([]);
  });

  it('derives four names that map back to the same option', () => {
    for (const key of configKeys()) {
      expect(keyOf(fileName(key))).toBe(key);
      expect(keyOf(flagName(key).slice(2))).toBe(key);
      expect(envName(key)).toBe(`BATON_${fileName(key).toUpperCase()}`);
    }
  });
});

describe('lists and tables', () => {
  const limits = { 'sk-a': { limit_requests_per_minute: 5 }, 'sk-b': {} };

  it('are read from flags, the environment and files alike', () => {
    const file = fileWith(
      'api_key: sk-a\nallowed_origins: [https://a.example, https://b.example]\n' +
        'api_key_limits:\n  sk-a: {limit_requests_per_minute: 5}\n  sk-b: {}\n',
    );
    const fromFile = resolveConfig({ file }).config;
    expect(fromFile.apiKey).toEqual(['sk-a']);
    expect(fromFile.allowedOrigins).toEqual(['https://a.example', 'https://b.example']);
    expect(fromFile.apiKeyLimits).toEqual(limits);
    const flags = { 'api-key': '["sk-a","sk-b"]', 'api-key-limits': JSON.stringify(limits) };
    const fromFlags = resolveConfig({ flags, env: { VLLM_API_KEY: 'sk-c' } }).config;
    expect(fromFlags.apiKey).toEqual(['sk-a', 'sk-b']);
    expect(fromFlags.apiKeyLimits).toEqual(limits);
    expect(resolveConfig({ env: { VLLM_API_KEY: 'sk-c' } }).config.apiKey).toEqual(['sk-c']);
  });

  it.each([
    ['api_key', '["a", 5]', 'a text or a list of texts'],
    ['api_key', '[""]', 'a text or a list of texts'],
    ['api_key_limits', '{"a": {"nonsense": 1}}', 'a table of rows'],
    ['api_key_limits', '{"a": {"limit_requests_per_minute": 0}}', 'a table of rows'],
    ['api_key_limits', '{"a"', 'a table of rows'],
  ])('are refused when %s is %s', (name, given, expected) => {
    expect(() => resolveConfig({ flags: { [name]: given } })).toThrow(expected);
  });

  it('with secrets are shown nowhere', () => {
    const secret = { apiKey: ['sk-a'], apiKeyLimits: limits, redis: 'redis://u:p@h' };
    const shown = withoutSecrets(defaultConfig(secret));
    for (const key of Object.keys(secret)) expect(shown).not.toHaveProperty(key);
    const recorded = JSON.stringify(recordableConfig(defaultConfig(secret)));
    expect(recorded).not.toContain('sk-a');
  });
});

describe('resolving', () => {
  it('takes a flag before the environment, that before the file, that before the default', () => {
    const file = fileWith('port: 1001\nblock_size: 32\nmax-num-seqs: 8\n');
    const { config, origins } = resolveConfig({
      flags: { port: '1003' },
      env: { BATON_PORT: '1002', BATON_BLOCK_SIZE: '64' },
      file,
    });
    expect([config.port, config.blockSize, config.maxNumSeqs, config.seed]).toEqual([
      1003, 64, 8, 0,
    ]);
    expect([origins.port, origins.blockSize, origins.maxNumSeqs, origins.seed]).toEqual([
      'flag',
      'environment',
      'file',
      'default',
    ]);
  });

  it('takes REDIS_URL, and its own variable before it', () => {
    expect(resolveConfig({ env: { REDIS_URL: 'redis://a' } }).config.redis).toBe('redis://a');
    const both = { REDIS_URL: 'redis://a', BATON_REDIS: 'redis://b' };
    expect(resolveConfig({ env: both }).config.redis).toBe('redis://b');
  });

  it('switches a toggle off by flag', () => {
    const { config } = resolveConfig({ flags: { enable_prefix_caching: false } });
    expect(config.enablePrefixCaching).toBe(false);
  });

  it.each([
    [{ flags: { port: '80000' } }, "--port must be an integer from 0 to 65535; '80000' is not."],
    [{ flags: { modle: 'x' } }, "unknown option '--modle'; did you mean '--model'?"],
    [{ flags: { 'dataset-path': 'x' } }, 'the file of answers is now --answers-path'],
    [{ env: { BATON_DATASET_PATH: 'x' } }, 'the file of answers is now --answers-path'],
    [{ env: { BATON_SEED: '1.5' } }, "BATON_SEED must be an integer from 0; '1.5' is not."],
    [
      { env: { BATON_PROT: '1' } },
      'unknown environment variable BATON_PROT; did you mean BATON_PORT?',
    ],
    [{ flags: { dialect: 'grpc' } }, "--dialect must be one of openai, vllm; 'grpc' is not."],
    [
      { flags: { vllmVersion: '0.10' } },
      "--vllm-version must be a text like 0.30, from 0.11 on; '0.10' is not.",
    ],
    [
      { flags: { dtype: 'float32' } },
      '--dtype must be one of auto, bfloat16, float16, half (types of 32 bits, float32 and ' +
        "float, are not simulated); 'float32' is not.",
    ],
    [
      { flags: { warmStart: 'caches.json' } },
      '--warm-start must be one of peer (only baton replay --warm-start loads a file of ' +
        "--save-cache); 'caches.json' is not.",
    ],
    [{ file: 'absent.yaml' }, 'The configuration file absent.yaml cannot be read: ENOENT: no such'],
  ])('refuses %j in one sentence', (sources, message) => {
    expect(() => resolveConfig(sources)).toThrow(message);
  });

  it.each(['recovery', 'recovery=loud', '=debug', 'Recovery=debug'])(
    'refuses the level of a module as `%s`',
    (level) => {
      expect(() => resolveConfig({ flags: { logLevels: level } })).toThrow(
        '--log-levels must be a text like recovery=debug, or a list of such texts',
      );
    },
  );

  it('ignores variables that an orchestrator injects for a service named baton', () => {
    const env = { BATON_API_SERVICE_HOST: '10.0.0.1', BATON_API_PORT_8000_TCP: 'tcp://10.0.0.1' };
    expect(resolveConfig({ env }).config).toEqual(defaultConfig());
  });
});

describe('a configuration file', () => {
  it.each([
    ['port: 1\nmodle: x\n', "f.yaml:2:1: unknown option 'modle'; did you mean 'model'?"],
    [
      'port: 1\n\n  \nspeedup: fast\n',
      'f.yaml:4:10: speedup must be a number from 0.001 to 100000.',
    ],
    ['port: "8000"\n', 'f.yaml:1:7: port must be an integer from 0 to 65535.'],
    ['port: 1\nport: 2\n', 'f.yaml:2:1: Map keys must be unique'],
    ['block-size: 1\nblock_size: 2\n', 'f.yaml:2:1: block_size is given twice.'],
    ['- port\n', 'f.yaml:1:1: a configuration is a map of option names to values.'],
    ['port: [1\n', 'f.yaml:'],
    ['port: {a: 1}\n', 'f.yaml:1:7: port must be an integer'],
    ['port:\n', 'port must be an integer'],
  ])('%j is refused with line and column', (content, message) => {
    expect(() => readConfigFile('f.yaml', content)).toThrow(message);
  });

  it('may be empty, and may unset what can be unset', () => {
    expect(readConfigFile('f.yaml', '').values.size).toBe(0);
    expect([...readConfigFile('f.yaml', 'max_model_len: null\n').values]).toEqual([
      ['maxModelLen', undefined],
    ]);
  });
});

describe('the configuration of a child process', () => {
  it('equals the parent’s, option for option', () => {
    const parent = defaultConfig({ port: 1234, maxModelLen: 4096, stepTime: 'constant' });
    expect(configFromEnv({ BATON_CONFIG: configToJson(parent) })).toEqual(parent);
  });

  it('wins over environment variables', () => {
    const handed = configToJson(defaultConfig({ port: 1 }));
    expect(configFromEnv({ BATON_CONFIG: handed, BATON_PORT: '2' }).port).toBe(1);
  });

  it.each(['no json', '[]', '{"port":"x"}', '{"prot":1}'])('%s is refused', (json) => {
    expect(() => configFromEnv({ BATON_CONFIG: json })).toThrow('BATON_CONFIG');
  });
});

describe('stages', () => {
  it('get their own overrides and otherwise the common values', () => {
    const config = defaultConfig({ gpu: 'h100', prefillGpu: 'b200', decodeMaxNumSeqs: 7 });
    expect(configForStage(config, 'prefill').gpu).toBe('b200');
    expect(configForStage(config, 'decode').gpu).toBe('h100');
    expect(configForStage(config, 'decode').maxNumSeqs).toBe(7);
    expect(configForStage(config, 'aggregated')).toEqual(config);
  });
});

describe('hints', () => {
  it('name the nearest option, or none when nothing is near', () => {
    expect(nearestName('block_sise', ['block_size', 'port'])).toBe('block_size');
    expect(unknownFlag('completely-different')).toBe("unknown option '--completely-different'.");
  });

  it('never point at a hidden option', () => {
    expect(unknownFlag('crash-afte')).not.toContain('crash-after');
  });

  it('find a name again after one edit', () => {
    const names = configKeys().map(fileName);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(40), (name, at) => {
        const cut = at % name.length;
        const typo = name.slice(0, cut) + name.slice(cut + 1);
        const nearest = nearestName(typo, names);
        return nearest === name || (nearest !== undefined && nearest.length > 0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the schema', () => {
  it('describes every option that is not hidden, and nothing else', () => {
    const schema = configSchema() as { properties: Record<string, unknown> };
    const visible = configKeys().filter((key) => !optionOf(key).hidden);
    expect(Object.keys(schema.properties)).toEqual(visible.map(fileName));
  });
});
