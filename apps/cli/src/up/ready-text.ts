import { type BatonConfig } from '@baton/config';
import { servedNamesOf } from '@baton/engine-setup';
import { baseUrl } from '@baton/supervisor';

/** The text in the terminal once requests can be sent. */
export function readyText(config: BatonConfig, seconds: number): string {
  const url = baseUrl(config);
  const [model] = servedNamesOf(config);
  const body = `{"model":"${model}","messages":[{"role":"user","content":"Hello"}],"stream":true}`;
  return [
    `Ready in ${seconds.toFixed(1)} s: ${url}/v1 · model ${model} · topology ${config.topology}`,
    `  curl -N ${url}/v1/chat/completions -H 'content-type: application/json' -d '${body}'`,
    `  ${url}/ui shows it live.`,
    '  Ctrl-C lets running requests finish and stops everything; a second one stops at once.',
    '',
  ].join('\n');
}
