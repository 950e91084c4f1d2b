import type { Command } from 'commander';
import { addCalibrateOptions, type Flags } from './calibrate-flags';
import { addLiveOptions } from './live-flags';

/**
 * Makes `command` the fit of step times to measurements. What it needs to run is loaded when it
 * runs.
 */
export function addCalibrateCommand(command: Command, finish: (exitCode: number) => void): void {
  command
    .description('Fit step times to measurements, and say how well they are met.')
    .action(async (flags: Flags) => {
      if (flags['live'] === true) {
        const { calibrateLive } = await import('./calibrate-live');
        finish(await calibrateLive(flags));
        return;
      }
      const { calibrateFiles } = await import('./calibrate');
      calibrateFiles(flags);
    });
  addCalibrateOptions(command);
  addLiveOptions(command);
}
