import type { Command } from 'commander';
import { addCalibrateOptions, type Flags } from './calibrate-flags';

/** Makes `command` the fit of step times to measurements. What it needs to run is loaded when it runs. */
export function addCalibrateCommand(command: Command): void {
  command
    .description('Fit step times to measurements, and say how well they are met.')
    .action(async (flags: Flags) => {
      const { calibrate } = await import('./calibrate');
      calibrate(flags);
    });
  addCalibrateOptions(command);
}
