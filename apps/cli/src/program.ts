import { Failure, isSystemError, reasonOf, VERSION } from '@baton/kernel';
import { Command, CommanderError, Help } from 'commander';
import { COMMANDS } from './commands';
import { spelledWithDashes } from './spelled-with-dashes';

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const HELP_WIDTH = 100;

const FIRST_STEPS = `Baton load-tests a disaggregated LLM serving design before you own the GPUs.

  baton up 2P2D      Start two prefill and two decode engines, and an API on port 8000.
  baton bench --dataset random --request-rate 20 --num-prompts 200
                     Load that cluster, or any OpenAI-compatible server.
  baton replay --trace azure-conv-2023 --topology 1P3D --limit 2000
                     Run a trace through a simulated cluster on the virtual clock.
  baton plan --trace azure-conv-2023 --limit 3000 --model llama-3.1-70b --gpus 8 --tp 4 \\
    --max-num-seqs 256 --slo ttft=2s,tpot=40ms
                     Find the split of GPUs that serves a trace best.
  baton docs         Read the guide.

All commands: baton --help. The options of one: baton up --help, baton up --help=all.
`;

/**
 * Runs one command line and returns its exit code. Every failure that a user can cause is one
 * sentence on stderr. Only the flags of the given commands are loaded, not those for the list of
 * commands and the version.
 */
export async function runProgram(args: readonly string[]): Promise<number> {
  if (args.length === 0) {
    process.stdout.write(FIRST_STEPS);
    return DONE;
  }
  let exitCode = DONE;
  const program = emptyProgram();
  for (const row of COMMANDS) {
    const command = quiet(program.command(row.name).description(row.description));
    if (!args.includes(row.name)) continue;
    await row.complete(command, (code) => {
      exitCode = code;
    });
  }
  try {
    const words = await withHelp(program, args);
    await program.parseAsync(await spelledOut(program, words), { from: 'user' });
    return exitCode;
  } catch (error) {
    const named = program.commands.find((command) => command.name() === args[0]);
    return explain(error, named ?? program);
  }
}

/** Chooses the help of a command. `--help=TOPIC` becomes `--help`, which commander parses. */
async function withHelp(program: Command, args: readonly string[]): Promise<readonly string[]> {
  const name = args[0] === 'help' ? args[1] : args[0];
  const command = program.commands.find((each) => each.name() === name);
  const requested = args.find((argument) => /^(-h|--help(=.*)?)$/.test(argument));
  if (command === undefined || (requested === undefined && args[0] !== 'help')) return args;
  const { chooseHelp } = await import('./help/show-help');
  chooseHelp(command, /=(.*)/.exec(requested ?? '')?.[1]);
  return args.map((argument) => (argument === requested ? '--help' : argument));
}

/**
 * The arguments in the form that commander parses. `help nope` becomes `nope`, which is refused by
 * name.
 */
async function spelledOut(program: Command, args: readonly string[]): Promise<string[]> {
  const [first, requested] = args;
  const isUnknown = requested !== undefined && COMMANDS.every(({ name }) => name !== requested);
  const words = first === 'help' && isUnknown ? args.slice(1) : args;
  const dashed = words.map(spelledWithDashes);
  const listFlags = program.commands
    .flatMap(({ options }) => options)
    .flatMap(({ variadic, long }) => (variadic && long !== undefined ? [long] : []));
  if (!dashed.some((argument) => listFlags.includes(argument))) return dashed;
  const { spreadLists } = await import('./spread-lists');
  return spreadLists(dashed, listFlags);
}

function emptyProgram(): Command {
  const program = new Command('baton')
    .description('Load-test a disaggregated LLM serving design before you own the GPUs.')
    .version(VERSION, '--version', 'print the version')
    .configureHelp({ subcommandTerm })
    .showSuggestionAfterError(false);
  return quiet(program);
}

/** A command in the list. Its flags are loaded only when the command line names it. */
function subcommandTerm(command: Command): string {
  const row = COMMANDS.find(({ name }) => name === command.name());
  return row === undefined
    ? new Help().subcommandTerm(command)
    : `${row.name} ${row.usage}`.trimEnd();
}

/** Makes a command throw its errors to `runProgram`, which prints them as one sentence. */
function quiet(command: Command): Command {
  return command
    .exitOverride()
    .configureOutput({ outputError: () => undefined, getOutHelpWidth: helpWidth })
    .allowExcessArguments(false);
}

/** The width of the terminal, at most `HELP_WIDTH`. */
function helpWidth(): number {
  return Math.min(process.stdout.columns ?? HELP_WIDTH, HELP_WIDTH);
}

async function explain(error: unknown, command: Command): Promise<number> {
  if (error instanceof CommanderError) return explainUsage(error, command);
  const { UsageError } = await import('@baton/config');
  const { HardwareError } = await import('@baton/hardware');
  if (error instanceof UsageError) return say(error.message, WRONG_USAGE);
  if (error instanceof Failure || error instanceof HardwareError) {
    return say(error.message, FAILED);
  }
  // A system call failed at an unexpected place, for example on a temporary folder.
  if (isSystemError(error)) return say(withPath(error), FAILED);
  const isError = error instanceof Error;
  return say(isError ? (error.stack ?? error.message) : String(error), FAILED);
}

function withPath(error: NodeJS.ErrnoException): string {
  const { path = error.syscall ?? 'a system call' } = error;
  return (
    `${path} cannot be used (${reasonOf(error)}). Check that it exists, is writable ` +
    'and has free space.'
  );
}

async function explainUsage(error: CommanderError, command: Command): Promise<number> {
  if (error.exitCode === DONE) return DONE;
  // Without a command, the help text has been printed already.
  if (error.code === 'commander.help') return WRONG_USAGE;
  const { usageSentence } = await import('./usage-sentence');
  return say(usageSentence(error, command), WRONG_USAGE);
}

function say(sentence: string, exitCode: number): number {
  process.stderr.write(`baton: ${sentence}\n`);
  return exitCode;
}
