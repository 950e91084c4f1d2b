import { FAULT_KINDS, type PolicyFault } from '@baton/placement';

export interface PolicyFaultCount {
  readonly stage: PolicyFault['stage'];
  readonly kind: PolicyFault['kind'];
  readonly count: number;
}

const STAGES: readonly PolicyFault['stage'][] = ['prefill', 'decode', 'aggregated'];

/**
 * Counts the faults of a user's own policies by stage and kind, and reports the first, the tenth,
 * the hundredth ... of each, so that a policy that fails on every request fills no log.
 */
export class PolicyFaultBook {
  private readonly counted = new Map<string, number>();

  /** @param report is called with a sentence */
  constructor(private readonly report: (message: string) => void) {}

  add({ stage, kind, message }: PolicyFault): void {
    const key = `${stage} ${kind}`;
    const count = (this.counted.get(key) ?? 0) + 1;
    this.counted.set(key, count);
    if (!Number.isInteger(Math.log10(count))) return;
    this.report(count === 1 ? message : `${message} This is fault ${count} of its kind.`);
  }

  get counts(): readonly PolicyFaultCount[] {
    const count = (stage: string, kind: string): number =>
      this.counted.get(`${stage} ${kind}`) ?? 0;
    return STAGES.flatMap((stage) =>
      FAULT_KINDS.map((kind) => ({ stage, kind, count: count(stage, kind) })),
    ).filter((each) => each.count > 0);
  }
}
