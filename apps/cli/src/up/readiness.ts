import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { BatonConfig } from '@baton/config';
import { isServing } from './probe';

const POLL_MS = 40;

/** Where clients on this machine reach the API. */
export function baseUrl(config: BatonConfig): string {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const host =
    everywhere[config.host] ?? (config.host.includes(':') ? `[${config.host}]` : config.host);
  return `${config.sslCertfile === undefined ? 'http' : 'https'}://${host}:${config.port}`;
}

/** Knows which processes have not yet said that they can work. */
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

/** What stands in the terminal once requests can be sent. */
export function readyText(config: BatonConfig, seconds: number): string {
  const url = baseUrl(config);
  const model = config.servedModelName ?? config.model;
  const body = `{"model":"${model}","messages":[{"role":"user","content":"Hello"}],"stream":true}`;
  return [
    `Ready in ${seconds.toFixed(1)} s: ${url}/v1 · model ${model} · topology ${config.topology}`,
    `  curl -N ${url}/v1/chat/completions -H 'content-type: application/json' -d '${body}'`,
    `  ${url}/ui shows it live.`,
    '  Ctrl-C lets running requests finish and stops everything; a second one stops at once.',
    '',
  ].join('\n');
}
