import { PoolingDto } from './pooling.dto';
import { anyOf, arrayOf, INTEGER, recordOf, STRING } from '../request/shapes';
import { Is, Within } from '../request/rules';
import { TOKEN_IDS } from '../request/sampling.dto';

const DOCUMENT = recordOf({ text: { shape: STRING, isRequired: true } });
const ONE = anyOf(STRING, TOKEN_IDS);
const SIDE = anyOf(STRING, arrayOf(STRING), TOKEN_IDS, arrayOf(TOKEN_IDS));

export type SideField =
  string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** Body of POST /score. Each pair of fields is one naming of the two sides. */
export class ScoreDto extends PoolingDto {
  @Is(SIDE)
  queries?: SideField | null;

  @Is(SIDE)
  documents?: SideField | null;

  @Is(SIDE)
  items?: SideField | null;

  @Is(SIDE)
  data_1?: SideField | null;

  @Is(SIDE)
  data_2?: SideField | null;

  @Is(SIDE)
  text_1?: SideField | null;

  @Is(SIDE)
  text_2?: SideField | null;
}

export type DocumentField = string | { readonly text: string };

/** Body of POST /rerank. */
export class RerankDto extends PoolingDto {
  @Is(ONE, { isRequired: true })
  query!: string | readonly number[];

  @Is(arrayOf(anyOf(STRING, DOCUMENT)), { isRequired: true })
  documents!: readonly DocumentField[];

  @Is(INTEGER)
  @Within((value: number) =>
    value < 0 ? { message: `top_n must be at least 0, got ${value}.` } : undefined,
  )
  top_n?: number | null;
}
