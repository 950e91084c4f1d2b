import type { BatonConfig } from '@baton/config';
import { askStoredChat } from '../endpoints/chat/ask-stored-chat';
import { poolingAsks } from '../endpoints/embeddings/ask-pooling';
import { askMessage } from '../endpoints/messages/ask-message';
import { askSglang } from '../endpoints/tokens/ask-sglang';
import { askTokens } from '../endpoints/tokens/ask-tokens';
import { responseAsks } from '../endpoints/responses/ask-response';
import { type Ask, askChatBatch, TEXT_ENDPOINTS } from '../request/take/call';

/** The named request readers, by name. */
export function namedAsks(config: BatonConfig): ReadonlyMap<string, Ask> {
  const asks = [
    ...Object.values(TEXT_ENDPOINTS),
    ...Object.values(poolingAsks(config)),
    askChatBatch,
    askMessage,
    askStoredChat as Ask,
    askSglang as Ask,
    askTokens,
    ...Object.values(responseAsks(config)),
  ];
  return new Map(asks.flatMap((ask) => (ask.name === undefined ? [] : [[ask.name, ask]])));
}
