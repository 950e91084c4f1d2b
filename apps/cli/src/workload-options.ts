import {
  flagNameOf,
  WORKLOAD_FLAG_ALIASES,
  WORKLOAD_FLAG_ROWS,
  WORKLOAD_FLAGS,
} from '@baton/replay';
import { type Command, Option } from 'commander';

/** Adds the flags of the workload, under one heading. */
export function addWorkloadOptions(command: Command): void {
  for (const name of WORKLOAD_FLAGS) {
    const { value, help } = WORKLOAD_FLAG_ROWS[name];
    command.addOption(new Option(`${flagNameOf(name)} <${value}>`, help).helpGroup('Workload:'));
  }
  for (const alias of Object.keys(WORKLOAD_FLAG_ALIASES)) {
    command.addOption(new Option(`${flagNameOf(alias)} <name>`).hideHelp());
  }
}
