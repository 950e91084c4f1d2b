import { isObject } from '@baton/kernel';
import { IsDefined, IsInt, Min } from 'class-validator';
import { Is, type OwnType } from '../body/declare';
import { PROMPTS, TEXT_OR_TOKEN_IDS, wrongItem } from '../body/types';
import { PoolingFields } from './pooling.dto';

export type SideField =
  string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** Body of POST /score. Each pair of fields is one naming of the two sides. */
export class ScoreRequest extends PoolingFields {
  @Is(PROMPTS) queries?: SideField | null;
  @Is(PROMPTS) documents?: SideField | null;
  @Is(PROMPTS) items?: SideField | null;
  @Is(PROMPTS) data_1?: SideField | null;
  @Is(PROMPTS) data_2?: SideField | null;
  @Is(PROMPTS) text_1?: SideField | null;
  @Is(PROMPTS) text_2?: SideField | null;
}

export type DocumentField = string | { readonly text: string };

const DOCUMENT = {
  expected: "a string or an object with a 'text'",
  fits: (value: unknown): boolean =>
    typeof value === 'string' || (isObject(value) && typeof value['text'] === 'string'),
};

const DOCUMENTS: OwnType = {
  expected: 'an array of strings or of objects',
  schema: {
    type: 'array',
    items: {
      anyOf: [
        { type: 'string' },
        { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      ],
    },
  },
  fits: (value) => Array.isArray(value) && value.every(DOCUMENT.fits),
  wrongIn: (value) => wrongItem(value, DOCUMENT),
};

/** Body of POST /rerank. */
export class RerankRequest extends PoolingFields {
  @IsDefined() @Is(TEXT_OR_TOKEN_IDS) query!: string | readonly number[];
  @IsDefined() @Is(DOCUMENTS) documents!: readonly DocumentField[];
  @IsInt() @Min(0) top_n?: number | null;
}
