import type { PolicyFault } from '@baton/placement';

export interface PolicyFaultCount {
  /** The file of the policy. */
  readonly policy: string;
  readonly stage: PolicyFault['stage'];
  readonly kind: PolicyFault['kind'];
  readonly count: number;
}

/**
 * Counts the faults of a user's own policies by file, stage and kind, and reports the first, the
 * tenth, the hundredth ... of each, so that a policy that fails on every request fills no log.
 */
export class PolicyFaultBook {
  private readonly counted = new Map<string, PolicyFaultCount>();

  /** @param report is called with a sentence */
  constructor(private readonly report: (message: string) => void) {}

  add({ path, stage, kind, message }: PolicyFault): void {
    const policy = path.slice(path.lastIndexOf('/') + 1);
    const key = `${policy} ${stage} ${kind}`;
    const count = (this.counted.get(key)?.count ?? 0) + 1;
    this.counted.set(key, { policy, stage, kind, count });
    if (!Number.isInteger(Math.log10(count))) return;
    this.report(count === 1 ? message : `${message} This is fault ${count} of its kind.`);
  }

  get counts(): readonly PolicyFaultCount[] {
    return [...this.counted.values()];
  }
}
