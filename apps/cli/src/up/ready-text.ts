import { type BatonConfig, servedNamesOf } from '@baton/config';
import { baseUrl } from '@baton/supervisor';

/** The text in the terminal when the cluster is ready. */
export function readyText(config: BatonConfig, seconds: number): string {
  const url = baseUrl(config);
  const [model] = servedNamesOf(config);
  const body = `{"model":"${model}","messages":[{"role":"user","content":"Hello"}],"stream":true}`;
  return [
    `Ready in ${seconds.toFixed(1)} s: ${url}/v1 · model ${model} · topology ${config.topology}`,
    `  curl -N ${url}/v1/chat/completions -H 'content-type: application/json' -d '${body}'`,
    `  ${url}/ui is the live page.`,
    '  Ctrl-C stops the cluster after its running requests; a second Ctrl-C stops it at once.',
    '',
  ].join('\n');
}
