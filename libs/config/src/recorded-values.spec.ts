import { describe, expect, it } from 'vitest';
import { defaultConfig } from './config';
import { recordableConfig } from './recorded-values';
import { resolveConfig } from './resolve-config';

const LIVE = defaultConfig({
  topology: '3P1D',
  stepTime: 'constant',
  timeToFirstToken: 30,
  redis: 'redis://user:secret@elsewhere',
  port: 9_000,
  record: 'run.jsonl',
  failReads: 0.5,
});

describe('a recorded configuration', () => {
  const recorded = recordableConfig(LIVE);

  it('has the options that a run depends on, without secrets and options of one process', () => {
    expect(recorded).toMatchObject({ topology: '3P1D', step_time: 'constant' });
    expect(JSON.stringify(recorded)).not.toMatch(/secret|9000|run\.jsonl/);
    expect(recorded).not.toHaveProperty('fail_reads');
  });

  it('replaces the defaults', () => {
    const { config, origins, notes } = resolveConfig({ recorded });
    expect(config).toMatchObject({ topology: '3P1D', timeToFirstToken: 30, port: 8_000 });
    expect([origins.topology, origins.port, notes]).toEqual(['recording', 'default', []]);
  });

  it('is overridden by flags, environment and values that these imply', () => {
    const env = { BATON_GPU: 'a100' };
    const { config } = resolveConfig({ flags: { topology: '4A' }, env, recorded });
    expect(config).toMatchObject({ topology: '4A', gpu: 'a100', stepTime: 'constant' });
    const calibrated = recordableConfig(defaultConfig());
    const flags = { timeToFirstToken: '20' };
    expect(resolveConfig({ flags, recorded: calibrated }).config.stepTime).toBe('constant');
  });

  it('of another version is taken as far as it is understood', () => {
    const { config, notes } = resolveConfig({
      recorded: { topology: '1P1D', warp: 9, block_size: 'big' },
    });
    expect(config).toMatchObject({ topology: '1P1D', blockSize: 16 });
    expect(notes).toEqual([
      'warp of the recording is not known here and has no effect.',
      'block_size of the recording is not known here and has no effect.',
    ]);
  });
});
