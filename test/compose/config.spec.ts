import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from '../tidy/repository';

it('is valid for docker-compose', () => {
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  const { stderr, status, error } = spawnSync('docker-compose', ['config', '--quiet'], options);
  if (error !== undefined) throw error;
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
