import type { BatonConfig } from '@baton/config';

type AnswerConfig = Pick<BatonConfig, 'dialect' | 'enableRequestIdHeaders' | 'allowedOrigins'>;

/**
 * Headers of every answer of the process. vLLM names the request only when
 * `enable_request_id_headers` is set.
 */
export function commonHeaders(config: AnswerConfig, requestId: string): Record<string, string> {
  const isNamed = config.dialect === 'openai' || config.enableRequestIdHeaders;
  return {
    ...(isNamed ? { 'x-request-id': requestId } : {}),
    ...(config.allowedOrigins.includes('*') ? { 'access-control-allow-origin': '*' } : {}),
  };
}
