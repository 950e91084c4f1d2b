import { asciiJson } from '@baton/text';

/** A served model. */
export interface ModelCard {
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly created: number;
  /** The model's path or repository, from which clients load a tokenizer. */
  readonly root: string;
  /** Base model of a LoRA adapter. */
  readonly parent?: string;
  /** Null for a LoRA adapter, as in vLLM; its base model has the length. */
  readonly maxModelLen: number | null;
}

/**
 * Body of GET /v1/models, equal in both dialects: OpenAI's clients ignore vLLM's fields, and
 * benchmark clients need them.
 */
export function modelList(cards: readonly ModelCard[]): string {
  return asciiJson({ object: 'list', data: cards.map(cardOf) });
}

/** Body of GET /v1/models/{id}. */
export function modelCard(card: ModelCard): string {
  return asciiJson(cardOf(card));
}

/** Body of GET /version. */
export function versionBody(version: string): string {
  return asciiJson({ version });
}

function cardOf({ id, created, root, parent, maxModelLen }: ModelCard): object {
  return {
    id,
    object: 'model',
    created,
    owned_by: 'vllm',
    root,
    parent: parent ?? null,
    max_model_len: maxModelLen,
    permission: [
      {
        id: `modelperm-${id}`,
        object: 'model_permission',
        created,
        allow_create_engine: false,
        allow_sampling: true,
        allow_logprobs: true,
        allow_search_indices: false,
        allow_view: true,
        allow_fine_tuning: false,
        organization: '*',
        group: null,
        is_blocking: false,
      },
    ],
  };
}
