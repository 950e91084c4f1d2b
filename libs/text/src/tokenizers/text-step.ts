/** What a tokenizer.json does to a text before it is merged. */
export interface TextStep {
  readonly type?: string;
  readonly normalizers?: readonly TextStep[];
  readonly pretokenizers?: readonly TextStep[];
  readonly add_prefix_space?: boolean;
  readonly prepend_scheme?: string;
}

/**
 * The same without a space before every text: a text is then what its tokens spell, wherever it
 * stands. Null: nothing is left.
 */
export function withoutPrefix(step: TextStep | null | undefined): TextStep | null {
  if (step === null || step === undefined || step.type === 'Prepend') return null;
  const inner = (steps: readonly TextStep[]): TextStep[] =>
    steps.flatMap((one) => withoutPrefix(one) ?? []);
  return {
    ...step,
    ...(step.normalizers === undefined ? {} : { normalizers: inner(step.normalizers) }),
    ...(step.pretokenizers === undefined ? {} : { pretokenizers: inner(step.pretokenizers) }),
    ...(step.add_prefix_space === undefined ? {} : { add_prefix_space: false }),
    ...(step.prepend_scheme === undefined ? {} : { prepend_scheme: 'never' }),
  };
}
