import { setTimeout as pause } from 'node:timers/promises';
import type { BatonConfig } from '@baton/runtime';

const POLL_MS = 40;

/** Where clients on this machine reach the API. */
export function baseUrl(config: BatonConfig): string {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const host =
    everywhere[config.host] ?? (config.host.includes(':') ? `[${config.host}]` : config.host);
  return `http://${host}:${config.port}`;
}

/** Resolves when the API says that every needed role has an engine. */
export async function untilReady(config: BatonConfig, signal: AbortSignal): Promise<void> {
  const url = `${baseUrl(config)}/health/ready`;
  for (;;) {
    signal.throwIfAborted();
    const answer = await fetch(url, { signal }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok === true) return;
    await pause(POLL_MS, undefined, { signal });
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
    '  Ctrl-C lets running requests finish and stops everything; a second one stops at once.',
    '',
  ].join('\n');
}
