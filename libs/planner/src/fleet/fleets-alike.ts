import type { BatonConfig } from '@baton/config';
import { goodputOf } from '../candidates/split-result';
import { isToldApart } from '../candidates/told-apart';
import { ableAt, isKept, least, mostGoodput, usdPerHour, usdPerRequest } from './choose-fleet';
import type { FleetResult } from './search-fleets';

/** Names of the fleets that cannot be distinguished from an answer, by the name of the answer. */
export interface FleetsAlike {
  /** Cheaper fleets whose goodput cannot be distinguished from the load. */
  readonly cheapest_for_load: readonly string[];
  /** Alike in goodput. */
  readonly most_goodput: readonly string[];
  /** Alike in dollars per request. */
  readonly cheapest_requests: readonly string[];
}

interface FoundFleets {
  readonly finalists: readonly FleetResult[];
  readonly forLoad: readonly FleetResult[];
}

/** The options, besides the GPUs, that choose other operators and so another error. */
const OWN_OPERATORS = ['model', 'quantization', 'dtype', 'kvCacheDtype', 'framework'] as const;

/** @param loadRps  requests per second of the workload */
export function fleetsAlike({ finalists, forLoad }: FoundFleets, loadRps: number): FleetsAlike {
  const all = [...forLoad, ...finalists].filter(isKept);
  const own = finalists.filter(isKept);
  const most = mostGoodput(all);
  const cheapest = least(own, usdPerRequest);
  const forAll = least(ableAt(all, loadRps), usdPerHour);
  return {
    cheapest_for_load: forAll === undefined ? [] : mayServe(all, forAll, loadRps),
    most_goodput: most === undefined ? [] : likeOne(all, most, goodputOf),
    cheapest_requests:
      cheapest === undefined ? [] : likeOne(own, cheapest, (one) => 1 / usdPerRequest(one)),
  };
}

function mayServe(all: readonly FleetResult[], chosen: FleetResult, loadRps: number): string[] {
  const missing = all.filter((one) => {
    return usdPerHour(one) < usdPerHour(chosen) && one.measured.rate < loadRps;
  });
  return likeOne(missing, chosen, (one) => Math.min(goodputOf(one), loadRps));
}

/** The fleets whose figure cannot be distinguished from that of one of them, the highest first. */
function likeOne(
  all: readonly FleetResult[],
  best: FleetResult,
  figureOf: (one: FleetResult) => number,
): string[] {
  const alike = all.filter((one) => {
    const sharesErrors = deploymentOf(one) === deploymentOf(best);
    return one !== best && !isToldApart(one, best, { figureOf, sharesErrors });
  });
  return alike.sort((a, b) => figureOf(b) - figureOf(a)).map(({ fleet }) => fleet.name);
}

/** The GPUs by role, and the options that choose the operators. */
function deploymentOf({ fleet: { pools, varied } }: FleetResult): string {
  const gpus = pools.map(({ engine }) => `${engine.role} ${engine.gpu}`);
  return JSON.stringify([gpus, OWN_OPERATORS.map((key: keyof BatonConfig) => varied[key])]);
}
