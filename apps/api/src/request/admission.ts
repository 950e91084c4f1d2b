import type { Fault } from '@baton/contract';
import type { OutputPlan } from '@baton/text';
import type { Charge } from '../http/access/rate-limits';
import type { SettledLeg } from '../routers/leg';
import type { Route } from './route/route';
import type { Asked } from './take/asked';
import type { Call } from './take/call';

/** A checked request that was let in: what the first steps hand to dispatch. */
export interface Admission {
  readonly call: Call;
  readonly asked: Asked;
  readonly leg: SettledLeg;
  /** One per route. */
  readonly plans: readonly OutputPlan[];
  /** One per sequence. */
  readonly routes: readonly Route[];
  /** What the caller has paid in advance. */
  readonly charge: Charge | undefined;
  /** What is to go wrong on purpose. */
  readonly faults: readonly Fault[];
}
