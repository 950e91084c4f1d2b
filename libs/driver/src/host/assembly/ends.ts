import { Endings } from '../../jobs/endings';
import { Results } from '../../jobs/results';
import { RunRelease } from '../../jobs/run-release';
import type { Core } from './core';
import type { Site } from './site';

/** How runs end. */
export interface Ends {
  readonly release: RunRelease;
  readonly results: Results;
  readonly endings: Endings;
}

export function buildEnds(site: Site, core: Core): Ends {
  const release = new RunRelease({ ...site, ...core });
  const results = new Results({ ...site, ...core });
  const endings = new Endings({ ...site, ...core, release, results });
  return { release, results, endings };
}
