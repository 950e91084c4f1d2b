import { resolveConfig, type ResolvedConfig } from '@baton/config';
import { withProgress } from '../progress';
import type { FleetFlags, PlanFlags } from './plan-flags';

type Prepare<Flags, Prepared> = (
  resolved: ResolvedConfig,
  flags: Flags,
  onProgress: (done: number, total: number) => void,
) => Promise<Prepared>;

/** Prepares a plan with the configuration from flags, environment and a file. */
export function preparedFrom<Flags extends PlanFlags | FleetFlags, Prepared>(
  flags: Flags,
  prepare: Prepare<Flags, Prepared>,
): Promise<Prepared> {
  const file = flags.configFile ?? process.env['BATON_CONFIG_FILE'];
  const resolved = resolveConfig({ flags: flags.config, env: process.env, file });
  return withProgress('reading', (onProgress) => prepare(resolved, flags, onProgress));
}
