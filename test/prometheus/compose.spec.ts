import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../support/free-port';
import { CommandProcess } from '../support/command-process';
import { waitUntil } from '../support/wait';
import { read, ROOT } from '../tidy/repository';

interface Service {
  readonly command: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
}

it('starts Prometheus with the configuration that the compose file mounts', async () => {
  const port = await freePort();
  const text = read('docker-compose.yml')
    .replaceAll('http://127.0.0.1:9090', `http://127.0.0.1:${port}`)
    .replaceAll('/etc/prometheus/', join(ROOT, 'deploy/prometheus/'));
  const { services } = parse(text, { merge: true }) as { services: { prometheus: Service } };
  const { command, healthcheck } = services.prometheus;
  const data = mkdtempSync(join(tmpdir(), 'baton-compose-'));
  const flags = command.map((flag) => flag.replace('=/prometheus', `=${data}`));
  const address = `--web.listen-address=127.0.0.1:${port}`;
  const prometheus = CommandProcess.start(['prometheus', ...flags, address]);
  const url = healthcheck.test.at(-1) ?? '';
  expect(url).toContain(`:${port}/`);
  const isReady = (): Promise<boolean> =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntil(isReady, { what: 'Prometheus is ready' }).finally(() => prometheus.stop());
  rmSync(data, { recursive: true });
});
