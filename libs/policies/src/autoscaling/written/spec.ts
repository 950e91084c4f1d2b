import type { HpaSpec } from '../hpa/hpa';
import type { OracleSpec } from '../policies/oracle';
import type { RandomCountsSpec } from '../policies/random-counts';
import type { RatioSpec } from '../policies/ratio';
import type { RoleSwitchSpec } from '../policies/role-switch';
import type { SaturationSpec } from '../policies/saturation';
import type { ScheduleSpec } from '../policies/schedule';
import type { SlaLoadSpec } from '../policies/sla-load';
import type { SlaPlannerSpec } from '../policies/sla-planner';
import type { TokenCapacitySpec } from '../policies/token-capacity';

/** A built-in autoscaler, as `--autoscaler` names it. */
export type AutoscalerSpec =
  | HpaSpec
  | RatioSpec<HpaSpec>
  | ScheduleSpec
  | SaturationSpec
  | TokenCapacitySpec
  | RoleSwitchSpec
  | SlaPlannerSpec
  | SlaLoadSpec
  | OracleSpec
  | RandomCountsSpec;

/** Objectives used as default targets, seconds. Unset: built-in ones. */
export interface Objectives {
  readonly ttftSeconds?: number | undefined;
  readonly itlSeconds?: number | undefined;
}
