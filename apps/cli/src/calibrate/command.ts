import type { Command } from 'commander';
import type { Finish } from '../commands';
import { addCalibrateOptions, type Flags } from './calibrate-flags';
import { addLiveOptions } from './live-flags';

/** Makes `command` the fit of step times to measurements. Its modules are loaded when it runs. */
export function completeCalibrate(command: Command, finish: Finish): void {
  command.action(async (flags: Flags) => {
    if (flags['live'] === true) {
      const { calibrateLive } = await import('./calibrate-live');
      finish(await calibrateLive(flags));
      return;
    }
    const { calibrateFiles } = await import('./calibrate');
    await calibrateFiles(flags);
  });
  addCalibrateOptions(command);
  addLiveOptions(command);
}
