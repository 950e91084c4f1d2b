import { asciiJson } from '@baton/text';
import { missingField } from '@baton/openai';
import type { ResponseContext } from './response-context';
import { itemText } from './response-events';
import { outputItems, type ResponseEnd, usageOf } from './response-object';
import type { ResponseDraft, WholeRequest } from './parse-response';
import { sealText } from './sealed-text';

/**
 * Checks a body of a compaction, which must name its model and is answered in one piece. Throws
 * `BatonError`.
 */
export function asCompaction(draft: ResponseDraft): ResponseDraft {
  if (draft.dto.model === undefined || draft.dto.model === null) {
    throw missingField('model');
  }
  const { stream: _stream, ...fields } = draft.fields;
  return { ...draft, dto: Object.assign(draft.dto, { stream: false }), fields };
}

/**
 * Body of POST /v1/responses/compact: the user's messages, and a sealed summary of the rest. Both
 * are items of the next request.
 */
export function renderCompaction(
  context: ResponseContext & { readonly request: WholeRequest },
  end: ResponseEnd,
): string {
  const { head, request } = context;
  const messages = request.items.filter(({ type, role }) => type === 'message' && role === 'user');
  const written = outputItems(context, end.count, true).filter(({ type }) => type === 'message');
  const sealed = sealText(written.map(itemText).join('\n'));
  const id = head.id.replace(/^[a-z]+_/, 'cmp_');
  return asciiJson({
    id: head.id,
    object: 'response.compaction',
    created_at: head.created,
    output: [...messages, { id, type: 'compaction', encrypted_content: sealed }],
    usage: usageOf(context, end.count, end.cachedTokens),
  });
}
