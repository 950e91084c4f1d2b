/** A step of a tokenizer.json that changes a text before it is merged. */
export interface TextStep {
  readonly type?: string;
  readonly normalizers?: readonly TextStep[];
  readonly pretokenizers?: readonly TextStep[];
  readonly add_prefix_space?: boolean;
  readonly prepend_scheme?: string;
}

/**
 * The step without its space before every text, so that a text is always the joined text of its
 * tokens. Null: nothing of the step is left.
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
