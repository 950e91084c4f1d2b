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

/** An admitted request. */
export interface Admission extends Routed {
  readonly plans: readonly OutputPlan[];
  /** The tokens that the caller has paid in advance. */
  readonly charge: Charge | undefined;
  /** The faults to inject. */
  readonly faults: readonly Fault[];
}
