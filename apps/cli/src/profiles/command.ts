import { UsageError } from '@baton/config';
import type { Command } from 'commander';
import { claimFile } from '../claim-output';
import type { Surface } from './surface';

export interface ProfileFlags {
  readonly model?: string;
  readonly gpu?: string;
  readonly tp?: string;
  readonly quantization?: string;
  readonly stepTime?: string;
  readonly points?: readonly string[];
  readonly chart?: string;
  readonly out?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Actions:
  list [files or folders...]  Shipped profiles, GPUs with measured operators, and own profiles.
  show [file]                 One profile with its errors, its source and its step times.
  plot [file]                 Its step times as a page or an image, with measured points.

Examples:
  baton profiles list ./profiles
  baton profiles show own.yaml
  baton profiles show --model llama-3.1-8b --gpu h200 --quantization fp8
  baton profiles plot own.yaml --points steps.jsonl --out own.html
  baton profiles plot --model qwen3-32b --gpu h100 --chart prefill --out prefill.svg`;

const PLOT_FLAGS = ['points', 'chart', 'out'] as const;
const DEPLOYMENT_FLAGS = ['model', 'gpu', 'tp', 'quantization', 'stepTime'] as const;
/** By action, the flags without an effect on it. */
const IDLE_FLAGS: Readonly<Record<string, readonly (keyof ProfileFlags)[]>> = {
  list: [...DEPLOYMENT_FLAGS, ...PLOT_FLAGS],
  show: PLOT_FLAGS,
  plot: ['json'],
};

/** Makes `command` the view of step times. Its modules are loaded when it runs. */
export function completeProfiles(command: Command): void {
  command
    .argument('<action>', 'list, show or plot')
    .argument('[files...]', 'your own profiles')
    .option('--model <name>', 'Model (default: that of the profile).')
    .option('--gpu <name>', 'GPU (default: that of the profile).')
    .option('--tp <n>', 'GPUs per engine (default: that of the profile, else 1).')
    .option('--quantization <name>', 'Format of the weights, with the names of vLLM.')
    .option(
      '--step-time <name>',
      'Step-time method: auto, composed, calibrated or roofline (default: auto).',
    )
    .option(
      '--points <file...>',
      'With plot: files of measured steps to draw, in any format of calibrate.',
    )
    .option('--chart <name>', 'With plot: decode or prefill, for an image (default: decode).')
    .option('--out <file>', 'With plot: file to write, *.html or *.svg.')
    .option('--json', 'With list and show: print one JSON document.')
    .addHelpText('after', EXAMPLES)
    .action((action: string, files: readonly string[], flags: ProfileFlags) =>
      run(action, files, flags),
    );
}

async function run(action: string, files: readonly string[], flags: ProfileFlags): Promise<void> {
  refuseIdle(action, flags);
  if (action === 'list') {
    const { listText } = await import('./list');
    process.stdout.write(listText(files, flags.json === true));
    return;
  }
  if (action !== 'show' && action !== 'plot') {
    throw new UsageError(`<action> must be list, show or plot; '${action}' is not.`);
  }
  if (files.length > 1) {
    throw new UsageError(
      `profiles ${action} accepts one profile. Remove ${files[1]}, or name a deployment as ` +
        '--model NAME --gpu NAME.',
    );
  }
  if (action === 'plot') claimFile(outOf(flags), '--out');
  const { surfaceOf } = await import('./surface');
  const surface = surfaceOf(files[0], flags);
  await (action === 'show' ? show(surface, flags) : plot(surface, flags));
}

/** @throws UsageError for a flag that has no effect on the action */
function refuseIdle(action: string, flags: ProfileFlags): void {
  const idle = IDLE_FLAGS[action]?.find((flag) => flags[flag] !== undefined);
  if (idle === undefined) return;
  const spelled = `--${idle.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new UsageError(`${spelled} has no effect on profiles ${action}. Remove it.`);
}

async function show(surface: Surface, { json = false }: ProfileFlags): Promise<void> {
  const { showText } = await import('./show');
  process.stdout.write(showText(surface, json));
}

async function plot(surface: Surface, flags: ProfileFlags): Promise<void> {
  const { plotted } = await import('./plot');
  const { writeFile } = await import('../calibrate/write-file');
  const out = outOf(flags);
  writeFile(out, await plotted(surface, { ...flags, out }), 'plot');
  process.stdout.write(`wrote ${out}\n`);
}

/** @throws UsageError */
function outOf({ out }: ProfileFlags): string {
  if (out !== undefined && /\.(html|svg)$/.test(out)) return out;
  throw new UsageError('profiles plot needs --out FILE.html or --out FILE.svg.');
}
