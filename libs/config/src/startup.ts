import { secondsToUs, type StartupTimes } from '@baton/kernel';
import type { BatonConfig } from './config';
import { STARTUP_CAUSES } from './tables/engine';
import { type CauseTime, sumOfTimes, timesByCause } from './time-by-cause';

type Given = Pick<BatonConfig, 'startupDuration'>;

/** The longest time that an engine loads, in simulated seconds. */
export function startupSeconds({ startupDuration: given }: Given): number {
  if (typeof given === 'number') return given;
  const times = causesIn(given);
  return Math.max(sumOfTimes(alone(times)), sumOfTimes(besidePeer(times)));
}

/** The loading times of an engine, by cause where the causes are given. */
export function startupTimes(config: Given): StartupTimes {
  const { startupDuration: given } = config;
  const startupUs = secondsToUs(startupSeconds(config));
  if (typeof given === 'number') return { startupUs };
  const times = causesIn(given);
  const phases = (some: readonly CauseTime[]) =>
    some.map(([cause, seconds]) => ({ cause, us: secondsToUs(seconds) }));
  return {
    startupUs,
    startup: { alone: phases(alone(times)), besidePeer: phases(besidePeer(times)) },
  };
}

function causesIn(given: string): readonly CauseTime[] {
  return timesByCause(given, { causes: STARTUP_CAUSES }) ?? [];
}

/** Without a peer weights come from disk. */
function alone(times: readonly CauseTime[]): readonly CauseTime[] {
  return times.filter(([cause]) => cause !== 'weights-from-peer');
}

function besidePeer(times: readonly CauseTime[]): readonly CauseTime[] {
  const hasOther = times.some(([cause]) => cause === 'weights-from-peer');
  return hasOther ? times.filter(([cause]) => cause !== 'weights') : times;
}
