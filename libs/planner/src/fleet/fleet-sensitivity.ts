import type { FleetsFound } from './search-fleets';

/** The chosen fleet at the rate that it is chosen for, under one assumption. */
export interface FleetSensitivity {
  readonly assumption: string;
  readonly slo_attainment: number | null;
  /** Whether the target share of requests still meets the SLO. */
  readonly keeps_slo: boolean;
  readonly p90_ttft_ms: number | null;
  readonly p90_tpot_ms: number | null;
}

/** Empty without a chosen fleet, and for one with an autoscaler. */
export function fleetSensitivity(
  { sensitivity }: FleetsFound,
  attainment: number,
): FleetSensitivity[] {
  return sensitivity.map(({ assumption, measured }) => {
    const { slo_attainment, ttft_ms, tpot_ms } = measured.figures!;
    return {
      assumption: assumption.name,
      slo_attainment,
      keeps_slo: (slo_attainment ?? 0) >= attainment,
      p90_ttft_ms: ttft_ms.p90,
      p90_tpot_ms: tpot_ms.p90,
    };
  });
}
