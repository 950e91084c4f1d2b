import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { BatonConfig } from '@baton/config';
import { isServing } from './probe';

const POLL_MS = 40;

/** The URL of the API for clients on this machine. */
export function baseUrl(config: Pick<BatonConfig, 'host' | 'port' | 'sslCertfile'>): string {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const host =
    everywhere[config.host] ?? (config.host.includes(':') ? `[${config.host}]` : config.host);
  return `${config.sslCertfile === undefined ? 'http' : 'https'}://${host}:${config.port}`;
}

/** Tracks the processes that have not reported ready yet. */
export class ClusterReadiness {
  private readonly missing: Set<string>;
  private readonly complete = new AbortController();

  constructor(names: readonly string[]) {
    this.missing = new Set(names);
  }

  onReady(name: string): void {
    this.missing.delete(name);
    if (this.missing.size === 0) this.complete.abort();
  }

  /**
   * Resolves true when every process is ready and the API sees the engines, false when `ended`
   * comes first.
   */
  async wait(config: BatonConfig, ended: AbortSignal): Promise<boolean> {
    const either = AbortSignal.any([this.complete.signal, ended]);
    if (!either.aborted) await once(either, 'abort');
    while (!ended.aborted && !(await isServing(config, baseUrl(config)))) await pause(POLL_MS);
    return !ended.aborted;
  }
}
