import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort } from './free-port';
import { waitUntil } from './wait';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

interface Config {
  rule_files: string[];
  global: { scrape_interval: string; evaluation_interval: string };
  scrape_configs: { job_name: string; dns_sd_configs?: unknown; static_configs?: unknown }[];
}

export interface PrometheusOptions {
  /** The shipped configuration; `targets` replace names that only a container network resolves. */
  readonly config: string;
  /** Addresses by job. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
}

/** A real Prometheus with the configuration of deploy/, each target every second. */
export class PrometheusServer {
  private output = '';

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  static async start({ config, targets }: PrometheusOptions): Promise<PrometheusServer> {
    const folder = await mkdtemp(join(tmpdir(), 'baton-prometheus-'));
    const file = join(folder, 'prometheus.yml');
    await writeFile(file, stringify(await localConfig(config, targets)));
    const port = await freePort();
    const child = spawn(
      'prometheus',
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--enable-feature=exemplar-storage',
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const server = new PrometheusServer(child, folder, port);
    child.stderr?.on('data', (chunk: Buffer) => (server.output += chunk.toString()));
    await waitUntil(() => server.isReady(), {
      what: `Prometheus is ready; it said:\n${server.output}`,
    });
    return server;
  }

  /** The result of an instant query. Throws with Prometheus' own message when it refuses. */
  async query(expression: string): Promise<readonly Sample[]> {
    const url = `http://127.0.0.1:${this.port}/api/v1/query`;
    const answer = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ query: expression }),
    });
    const body = (await answer.json()) as { error?: string; data?: { result: Sample[] } };
    if (body.error !== undefined) throw new Error(`${expression}: ${body.error}`);
    return body.data?.result ?? [];
  }

  async get<T>(path: string): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/api/v1/${path}`);
    return ((await answer.json()) as { data: T }).data;
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolved) => this.process.once('exit', resolved));
    this.process.kill('SIGTERM');
    await gone;
    await rm(this.folder, { recursive: true, force: true });
  }

  private isReady(): Promise<boolean> {
    return fetch(`http://127.0.0.1:${this.port}/-/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  }
}

async function localConfig(path: string, targets: PrometheusOptions['targets']): Promise<Config> {
  const config = parse(await readFile(path, 'utf8')) as Config;
  config.rule_files = config.rule_files.map((file) => resolve(dirname(path), file));
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
  for (const job of config.scrape_configs) {
    delete job.dns_sd_configs;
    job.static_configs = [{ targets: targets[job.job_name] ?? [] }];
  }
  return config;
}
