import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './repository';

describe('the layers', () => {
  it('are written as the imports have them (npm run docs)', () => {
    const script = join(ROOT, 'scripts/house/check-layers.mjs');
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(stdout + stderr).toBe('');
  });
});
