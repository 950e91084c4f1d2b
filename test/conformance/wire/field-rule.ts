/** How one field of a type may differ from what the client's types say. */
export interface FieldRule {
  /** Its schema, when the type does not have the field. */
  readonly extra?: object;
  /** What else it may be. */
  readonly also?: object;
  /** It may be left out although the type demands it. */
  readonly isAbsent?: boolean;
}

/** Rules by the name of a type, then of a field. */
export type TypeRules = Readonly<Record<string, Readonly<Record<string, FieldRule>>>>;

/** Fields whose numbers are whole and not negative, which no TypeScript type can say. */
export const COUNTS = /^(index|created|max_model_len|bytes|text_offset|.*_tokens)$/;
