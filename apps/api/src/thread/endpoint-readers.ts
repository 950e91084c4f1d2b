import type { BatonConfig } from '@baton/config';
import { storedChatReader } from '../endpoints/chat/stored-chat-reader';
import { poolingReaders } from '../endpoints/embeddings/pooling-readers';
import { messageReader } from '../endpoints/messages/message-reader';
import { sglangReader } from '../compat/sglang/native-reader';
import { tokenReader } from '../endpoints/tokens/token-reader';
import { responseReaders } from '../endpoints/responses/response-readers';
import { type EndpointReader, chatBatchReader, TEXT_ENDPOINTS } from '../request/take/call';

/** The named request readers, by name. */
export function endpointReaders(config: BatonConfig): ReadonlyMap<string, EndpointReader> {
  const readers = [
    ...Object.values(TEXT_ENDPOINTS),
    ...Object.values(poolingReaders(config)),
    chatBatchReader,
    messageReader,
    storedChatReader as EndpointReader,
    sglangReader as EndpointReader,
    tokenReader,
    ...Object.values(responseReaders(config)),
  ];
  return new Map(
    readers.flatMap((reader) => (reader.name === undefined ? [] : [[reader.name, reader]])),
  );
}
