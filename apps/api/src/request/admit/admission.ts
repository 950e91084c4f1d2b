import type { Fault } from '@baton/contract';
import type { OutputPlan } from '@baton/text';
import type { Charge } from '../../http/access/rate-limits';
import type { SettledLeg } from '../../routers/leg';
import type { Route } from '../route/route';
import type { CheckedRequest, Call } from '../take/call';

/** A checked request with its routes. */
export interface Routed {
  readonly call: Call;
  readonly checked: CheckedRequest;
  readonly leg: SettledLeg;
  /** One per sequence. */
  readonly routes: readonly Route[];
}

/** A routed request whose sequences count as waiting. */
export interface Admission extends Routed {
  /** The tokens that the caller has paid in advance. */
  readonly charge: Charge | undefined;
  /** The faults to inject. */
  readonly faults: readonly Fault[];
}

/** An admitted request with the output of its sequences. */
export interface PlannedRequest extends Admission {
  /** One per sequence. */
  readonly plans: readonly OutputPlan[];
}
