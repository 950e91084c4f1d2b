/** A permitted difference between one field and the client's type. */
export interface FieldRule {
  /** Its schema, when the type does not have the field. */
  readonly extra?: object;
  /** A further schema that it may have. */
  readonly also?: object;
  /** It may be absent although the type requires it. */
  readonly isAbsent?: boolean;
}

/** Rules by the name of a type, then of a field. */
export type TypeRules = Readonly<Record<string, Readonly<Record<string, FieldRule>>>>;

/** Fields with whole, non-negative numbers, which no TypeScript type expresses. */
export const COUNTS = /^(index|created|max_model_len|bytes|text_offset|.*_tokens)$/;
