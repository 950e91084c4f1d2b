export { asCompaction, renderCompaction } from './compaction';
export {
  continued,
  lengthOfLoaded,
  type LoadedTexts,
  mayContinue,
  NO_LINKS,
  type ResponseLinks,
  responseLinksBody,
} from './continuing';
export {
  ConversationRequest,
  type ConversationHead,
  conversationObject,
  newConversationBody,
  newItemsBody,
  readMetadata,
  type StoredConversation,
  storedConversationBody,
} from './conversations';
export type { Item as ResponseItem } from './items';
export {
  headOf,
  type StoredResponse,
  storedResponseBody,
  storedText,
  withFailure,
  withStatus,
} from './kept-response';
export { messageBody } from './message-body';
export { newId } from './new-id';
export {
  type ResponseRequest,
  type UpstreamPart,
  type WholeRequest,
  parseResponse,
  readResponse,
} from './parse-response';
export { responseSchemas } from './request-schemas';
export { asResponseFault, renderResponseError } from './response-error';
export type { ReasoningEvents } from './response-events';
export type { ResponseObject } from './response-object';
export { type ResponseForms, ResponseOutcome, queuedResponse } from './response-outcome';
export {
  type ChatHead,
  chatHead,
  storedChatMessages,
  chatMessagesBody,
  chatObject,
  checkStoring,
  isListed,
  isToBeStored,
  storedChat,
  withMetadata,
} from './stored-chat';
export {
  inputTokensBody,
  itemsPage,
  type Page,
  joinedList,
  pageOf,
  startingAfter,
  wantsStream,
} from './stored-response';
export { type ResponseStream, StreamedResponse } from './streamed-response';
export { TranslatedResponse } from './translated-response';
export { CreateResponse } from './responses.dto';
