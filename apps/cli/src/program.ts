import { unknownFlag, UsageError, VERSION } from '@baton/config';
import { HardwareError } from '@baton/hardware';
import { Failure } from '@baton/kernel';
import { Command, CommanderError } from 'commander';
import { addBenchCommand, addDemoCommand } from './bench/command';
import { addCalibrateCommand } from './calibrate/command';
import { isSystemError, reasonOf } from './claim-output';
import { addConfigOptions, spelledWithDashes } from './options';
import { addPlanCommand } from './plan/command';
import { addReplayCommand } from './replay/command';

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs one command line and returns its exit code; every failure that a user can cause is one
 * sentence on stderr.
 */
export async function runProgram(args: readonly string[]): Promise<number> {
  let exitCode = DONE;
  const program = buildProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args.map(spelledWithDashes), { from: 'user' });
    return exitCode;
  } catch (error) {
    return explain(error, flagsOf(program, args[0]));
  }
}

function buildProgram(finish: (exitCode: number) => void): Command {
  const program = new Command('baton')
    .description('Load-test a disaggregated LLM serving design before you own the GPUs.')
    .version(VERSION, '--version', 'print the version')
    .showSuggestionAfterError(false);
  quiet(program);
  const upCommand = program
    .command('up')
    .description('Start a cluster: API, prefill and decode engines, and a broker if none is given.')
    .argument('[topology]', 'engines by role: 2P3D, 4A, 2P3D1A (default: 2P2D)')
    .action(async (topology: string | undefined, flags: Record<string, string | boolean>) => {
      const { up } = await import('./up/up');
      finish(await up(topology, flags));
    });
  addConfigOptions(quiet(upCommand));
  addBenchCommand(quiet(program.command('bench')), finish);
  addDemoCommand(quiet(program.command('demo')), finish);
  addReplayCommand(quiet(program.command('replay')));
  addPlanCommand(quiet(program.command('plan')));
  addCalibrateCommand(quiet(program.command('calibrate')), finish);
  quiet(program.command('doctor'))
    .description('Say what is installed here and what `baton up` would use.')
    .action(async () => {
      const { doctor } = await import('./doctor/doctor');
      await doctor();
    });
  return program;
}

/** Errors are thrown to `runProgram`, which prints them in our own words. */
function quiet(command: Command): Command {
  return command
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .allowExcessArguments(false);
}

/** The flags that a command shows in its help. */
function flagsOf(program: Command, name: string | undefined): string[] {
  const command = program.commands.find((each) => each.name() === name) ?? program;
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap((option) => option.long ?? []);
}

function explain(error: unknown, flags: readonly string[]): number {
  if (error instanceof CommanderError) return explainUsage(error, flags);
  if (error instanceof UsageError) return say(error.message, WRONG_USAGE);
  if (error instanceof Failure || error instanceof HardwareError) {
    return say(error.message, FAILED);
  }
  // The system refused something that no command foresaw, such as a temporary folder.
  if (isSystemError(error)) return say(withPath(error), FAILED);
  const isError = error instanceof Error;
  return say(isError ? (error.stack ?? error.message) : String(error), FAILED);
}

function withPath(error: NodeJS.ErrnoException): string {
  const { path = error.syscall ?? 'a call of the system' } = error;
  return `${path} cannot be used (${reasonOf(error)}): check that it is there, may be written and has free space.`;
}

function explainUsage(error: CommanderError, flags: readonly string[]): number {
  if (error.exitCode === DONE) return DONE;
  // A command line without a command was answered with the help text already.
  if (error.code === 'commander.help') return WRONG_USAGE;
  const [, name] = /'(.*?)'/.exec(error.message) ?? [];
  const isUnknownFlag = error.code === 'commander.unknownOption' && name !== undefined;
  const sentence = isUnknownFlag ? unknownFlag(name, flags) : error.message.replace(/^error: /, '');
  return say(sentence, WRONG_USAGE);
}

function say(sentence: string, exitCode: number): number {
  process.stderr.write(`baton: ${sentence}\n`);
  return exitCode;
}
