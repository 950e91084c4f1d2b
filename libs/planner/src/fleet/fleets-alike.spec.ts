import type { PlanFigures } from '../candidates/plan-task';
import { describe, expect, it } from 'vitest';
import { fleetIntervals } from './fleet-intervals';
import { fleetsAlike } from './fleets-alike';
import type { FleetResult } from './search-fleets';

const ERROR = { e2el: { low: 1 / 1.5, high: 1.5 }, apart: 1.1 };

interface Given {
  readonly gpu?: string;
  readonly usdPerHour?: number;
  readonly varied?: object;
}

function fleet(name: string, rate: number, given: Given = {}): FleetResult {
  const { gpu = 'h100', usdPerHour = 10, varied = {} } = given;
  const cost = { usd_per_thousand_requests: usdPerHour / rate / 3.6 };
  const intervals = { model: ERROR, request_rps: [rate, rate] };
  const figures = { request_rps: rate, cost, intervals } as unknown as PlanFigures;
  const pools = [{ engine: { role: 'aggregated', gpu, gpus: 1 }, count: 1 }];
  return {
    fleet: { name, usdPerHour, pools, varied } as unknown as FleetResult['fleet'],
    measured: { rate, completedRate: rate, figures, requests: 100, simulations: 1 },
  };
}

function alike(finalists: readonly FleetResult[], loadRps = 100, forLoad: FleetResult[] = []) {
  return fleetsAlike({ finalists, forLoad }, loadRps);
}

describe('fleets that cannot be told apart', () => {
  it('differ in goodput by less than the error that they do not share', () => {
    const found = alike([fleet('best', 20), fleet('near', 18.5), fleet('far', 17)]);
    expect(found.most_goodput).toEqual(['near']);
  });

  it.each([
    ['GPUs', { gpu: 'h200' }],
    ['number formats', { varied: { quantization: 'fp8' } }],
  ])('share no error where their %s differ', (_what, given) => {
    const found = alike([fleet('best', 20), fleet('other', 12, given), fleet('same', 12)]);
    expect(found.most_goodput).toEqual(['other']);
  });

  it('are compared by dollars per request where the price is the answer', () => {
    const finalists = [fleet('big', 40, { usdPerHour: 19 }), fleet('small', 20), fleet('dear', 15)];
    expect(alike(finalists).cheapest_requests).toEqual(['small']);
  });

  it('are cheaper and just below the load of a fleet that serves it', () => {
    const finalists = [
      fleet('short', 9.5, { usdPerHour: 8 }),
      fleet('weak', 8, { usdPerHour: 7 }),
      fleet('dear', 9.5, { usdPerHour: 12 }),
    ];
    const served = alike(finalists, 10, [fleet('serves', 10)]);
    expect(served.cheapest_for_load).toEqual(['short']);
  });

  it('are none without a fleet that keeps the SLO', () => {
    const none = { cheapest_for_load: [], most_goodput: [], cheapest_requests: [] };
    expect(alike([fleet('none', 0)])).toEqual(none);
  });
});

describe('the intervals of a fleet', () => {
  it('hold its price of a request, which falls as its goodput rises', () => {
    const { goodput_rps: rps, usd_per_thousand_requests: usd } = fleetIntervals(fleet('a', 20))!;
    expect(usd![0]).toBeCloseTo(10 / rps![1] / 3.6, 4);
    expect(usd![1]).toBeCloseTo(10 / rps![0] / 3.6, 4);
  });

  it('have no price where an autoscaler changes the dollars per hour', () => {
    const scaled = fleetIntervals(fleet('a', 20, { varied: { autoscaler: 'hpa:running=8' } }));
    expect(scaled!.usd_per_thousand_requests).toBeNull();
    expect(scaled!.goodput_rps).not.toBeNull();
  });
});
