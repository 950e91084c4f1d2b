import type { Command } from 'commander';

/** Sets the program's exit code. */
export type Finish = (exitCode: number) => void;

/** A command in the list of commands, and a function that loads the rest of it. */
export interface CommandRow {
  readonly name: string;
  /** Shown after the name in the list. */
  readonly usage: string;
  readonly description: string;
  /** Adds arguments, flags and the action, and loads their modules. */
  readonly complete: (command: Command, finish: Finish) => Promise<void>;
}

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'up',
    usage: '[options] [topology]',
    description: 'Start a cluster: API, prefill and decode engines, and a broker if none is given.',
    complete: async (command, finish) => {
      const { completeUp } = await import('./up/command');
      completeUp(command, finish);
    },
  },
  {
    name: 'bench',
    usage: '[options]',
    description: 'Send a workload to any OpenAI-compatible server and measure the latencies.',
    complete: async (command, finish) => {
      const { completeBench } = await import('./bench/command');
      completeBench(command, finish);
    },
  },
  {
    name: 'demo',
    usage: '[options] [topology]',
    description: 'Start a cluster, load it, write a report, and stop the cluster.',
    complete: async (command, finish) => {
      const { completeDemo } = await import('./bench/command');
      completeDemo(command, finish);
    },
  },
  {
    name: 'replay',
    usage: '[options]',
    description: 'Replay a trace or a generated workload on a simulated cluster, in virtual time.',
    complete: async (command) => {
      const { completeReplay } = await import('./replay/command');
      completeReplay(command);
    },
  },
  {
    name: 'plan',
    usage: '[options]',
    description:
      'Find the split of GPUs into prefill and decode engines that serves a workload best.',
    complete: async (command) => {
      const { completePlan } = await import('./plan/command');
      completePlan(command);
    },
  },
  {
    name: 'calibrate',
    usage: '[options]',
    description: 'Fit step times to measurements, and show the errors of the fit.',
    complete: async (command, finish) => {
      const { completeCalibrate } = await import('./calibrate/command');
      completeCalibrate(command, finish);
    },
  },
  {
    name: 'profiles',
    usage: '[options] <action> [files...]',
    description: 'List, show or plot step times: shipped, composed, or fitted by you.',
    complete: async (command) => {
      const { completeProfiles } = await import('./profiles/command');
      completeProfiles(command);
    },
  },
  {
    name: 'policy',
    usage: '[options] <action> [modules...]',
    description: 'Write a policy, compare policies, or let a program make each decision.',
    complete: async (command, finish) => {
      const { completePolicy } = await import('./policy/command');
      completePolicy(command, finish);
    },
  },
  {
    name: 'docs',
    usage: '[options]',
    description: 'Serve the guide on this machine, with search.',
    complete: async (command, finish) => {
      const { completeDocs } = await import('./docs/command');
      completeDocs(command, finish);
    },
  },
  {
    name: 'doctor',
    usage: '[options]',
    description: 'Show the installed programs and what `baton up` uses on this machine.',
    complete: async (command) => {
      const { doctor } = await import('./doctor/doctor');
      command.option('--json', 'Print one JSON document.').action(doctor);
    },
  },
  {
    name: 'completion',
    usage: '<shell>',
    description: 'Print a script that completes commands and flags in bash or zsh.',
    complete: async (command) => {
      const { completeCompletion } = await import('./completion/command');
      completeCompletion(command, COMMANDS);
    },
  },
];
