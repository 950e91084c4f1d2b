import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandProcess } from '../support/command-process';
import { waitUntil } from '../support/wait';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('nest build', () => {
  let folder: string;
  let process: CommandProcess | undefined;

  beforeAll(() => {
    // The folder lies in the repository, so that the built apps find its packages.
    mkdirSync(join(ROOT, 'out'), { recursive: true });
    folder = mkdtempSync(join(ROOT, 'out', 'nest-build-'));
  });

  afterAll(async () => {
    await process?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('builds the apps without their tests, and the built API serves requests', async () => {
    const options = { extends: '../../tsconfig.json', compilerOptions: { outDir: '.' } };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
    const command = [
      'node_modules/.bin/nest',
      'build',
      'api',
      '--path',
      relative(ROOT, join(folder, 'tsconfig.json')),
    ];
    const build = CommandProcess.start(command);
    expect(await build.ended, build.log).toBe(0);

    const built = readdirSync(folder, { recursive: true }).map(String);
    for (const app of ['api', 'prefill', 'decode'])
      expect(built).toContain(`apps/${app}/src/main.js`);
    expect(built.filter((file) => file.includes('.spec.'))).toEqual([]);
    expect(built.filter((file) => /^(apps|libs)\/[^/]+\/test\b/.test(file))).toEqual([]);

    // Port 0 selects any free port. The log names it.
    const env = { BATON_PORT: '0', BATON_TOPOLOGY: '1P1D', BATON_LOG_LEVEL: 'info' };
    const api = CommandProcess.start(['node', join(folder, 'apps/api/src/main.js')], { env });
    process = api;
    await waitUntil(() => api.log.includes('"listening"'), { what: 'it listens' });
    const [, url = ''] = /"url":"([^"]+)"/.exec(api.log) ?? [];
    const isReady = async () => (await fetch(`${url}/health/ready`)).ok;
    await waitUntil(isReady, { what: 'it is ready' });
    expect(await statusOf(`${url}/v1/completions`, 'a')).toBe(200);
    // A thread loads this file by its path.
    expect(built).toContain('apps/api/src/thread/request-thread.js');
    expect(await statusOf(`${url}/v1/completions`, 'a baton '.repeat(8_000))).toBe(200);
  });
});

async function statusOf(url: string, prompt: string): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt, max_tokens: 2 }),
  });
  return answer.status;
}
