export { asCompaction, renderCompaction } from './compaction';
export {
  conversationObject,
  readConversation,
  readConversationItems,
  readMetadata,
} from './conversations';
export type { Item as ResponseItem } from './items';
export { followReferences } from './items';
export type { ResponseDraft, ResponseLimits, ResponseRequest } from './parse-response';
export { parseResponse, readResponse } from './parse-response';
export { responseSchemas } from './request-schemas';
export { responseIdOf } from './response-context';
export { renderResponseError } from './response-error';
export type { ReasoningEvents } from './response-events';
export type { ResponseEnd, ResponseObject } from './response-object';
export { ResponseOutcome, queuedResponse } from './response-outcome';
export {
  type ChatObject,
  type ChatSummary,
  checkStoring,
  isListed,
  isToBeStored,
  type StoredChat,
  storedChat,
  withMetadata,
} from './stored-chat';
export {
  inputTokensBody,
  itemsPage,
  listBody,
  type Page,
  pageOf,
  replayEvents,
  startingAfter,
  wantsStream,
} from './stored-response';
export { StreamedResponse } from './streamed-response';
