import type { ReceivedAnswer } from './answer';
import { type EventAt, readChoices } from './choices';
import { readResponses } from './responses';

/** The endpoint of a run, by the names of `vllm bench serve --backend`. */
export const PROTOCOLS = ['openai', 'openai-chat', 'responses'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** The default path of each protocol. */
export const ENDPOINTS: Readonly<Record<Protocol, string>> = {
  openai: '/v1/completions',
  'openai-chat': '/v1/chat/completions',
  responses: '/v1/responses',
};

/** The protocol of a path. Undefined for other paths. */
export function protocolAt(path: string): Protocol | undefined {
  if (path.endsWith('/chat/completions')) return 'openai-chat';
  if (path.endsWith('/completions')) return 'openai';
  return path.endsWith('/responses') ? 'responses' : undefined;
}

/** Reads one event of an answer. */
export function readEvent(protocol: Protocol, answer: ReceivedAnswer, event: EventAt): void {
  switch (protocol) {
    case 'openai':
      readChoices(answer, event, true);
      return;
    case 'openai-chat':
      readChoices(answer, event, false);
      return;
    case 'responses':
      readResponses(answer, event);
      return;
  }
}
