import type { PolicyFault } from '@baton/policies';
import { channels, type Transport } from '@baton/transport';

export interface PolicyFaultCount {
  /** The file of the policy. */
  readonly policy: string;
  readonly stage: PolicyFault['stage'];
  readonly kind: PolicyFault['kind'];
  readonly count: number;
}

/**
 * Counts the faults of users' own policies by file, stage and kind. Of each kind it reports the
 * first, the tenth, the hundredth and so on, so that a policy that fails on every request does not
 * fill the log.
 */
export class PolicyFaultBook {
  private readonly counted = new Map<string, PolicyFaultCount>();

  /** @param report is called with a sentence */
  constructor(private readonly report: (message: string) => void) {}

  add(fault: PolicyFault): void {
    const count = this.count(fault);
    if (!Number.isInteger(Math.log10(count))) return;
    const { message } = fault;
    this.report(count === 1 ? message : `${message} This is fault ${count} of its kind.`);
  }

  /** Counts a fault that another process reports. Returns the faults of its kind. */
  count({ path, stage, kind }: PolicyFault): number {
    const policy = path.slice(path.lastIndexOf('/') + 1);
    const key = `${policy} ${stage} ${kind}`;
    const count = (this.counted.get(key)?.count ?? 0) + 1;
    this.counted.set(key, { policy, stage, kind, count });
    return count;
  }

  get counts(): readonly PolicyFaultCount[] {
    return [...this.counted.values()];
  }
}

/**
 * Reports the faults of a policy outside of the API to the API, which counts them in its metrics.
 */
export function faultReporter(
  { bus }: Transport,
  report: (sentence: string) => void,
): (fault: PolicyFault) => void {
  const faults = new PolicyFaultBook(report);
  return (fault) => {
    faults.add(fault);
    bus.publish(channels.policyFaults, Buffer.from(JSON.stringify(fault)));
  };
}
