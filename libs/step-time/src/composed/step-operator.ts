/** One operator of a step, all its layers together. */
export interface StepOperator {
  readonly name: OperatorName;
  readonly us: number;
}

export type OperatorName =
  | 'embedding'
  | 'embedding all-reduce'
  | 'norms'
  | 'qkv'
  | 'output projection'
  | 'latent attention'
  | 'prefill attention'
  | 'decode attention'
  | 'gate and up'
  | 'activation'
  | 'down'
  | 'all-reduce'
  | 'router'
  | 'experts'
  | 'dispatch'
  | 'combine'
  /** Padding the input of experts, and cutting their output. */
  | 'padding'
  | 'shared experts'
  /** Shared and routed experts side by side. */
  | 'overlapped experts'
  | 'around attention'
  | 'choice of experts'
  | 'output head'
  | 'sampler';

export function totalUs(operators: readonly StepOperator[]): number {
  return operators.reduce((sum, { us }) => sum + us, 0);
}
