import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from '../tidy/repository';
import { findCompose } from './find-compose.mjs';

it('is valid for the Compose of this machine', async () => {
  const found = await findCompose(process.env);
  expect(found, 'neither `docker compose` nor `docker-compose` runs').toBeDefined();
  const [program = '', ...words] = found?.way ?? [];
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  const { stderr, status, error } = spawnSync(program, [...words, 'config', '--quiet'], options);
  if (error !== undefined) throw error;
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
