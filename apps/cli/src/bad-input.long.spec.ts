import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../test/test-command';
import { COMMANDS } from './commands';

const folder = mkdtempSync(join(tmpdir(), 'baton-bad-input-'));
const ABSENT = join(folder, 'absent.yaml');
const BROKEN = join(folder, 'broken.yaml');

/** Runs a command line that must fail, and returns its sentence. */
async function sentenceOf(args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(...args);
  expect([args, exitCode, stdout]).toEqual([args, 2, '']);
  expect(stderr).toMatch(/^baton: [^\n]+[^:\n]\n$/);
  expect(stderr).not.toMatch(/\n +at |Error:/);
  return stderr.slice('baton: '.length, -1);
}

/** One option per form of its value, such as `<n>`, `<file>` and `<file...>`. */
function optionsWithValue({ options }: Command) {
  const byForm = new Map(options.map((option) => [/<.*/.exec(option.flags)?.[0], option]));
  byForm.delete(undefined);
  return [...byForm.values()];
}

beforeAll(() => {
  vi.stubEnv('REDIS_URL', '');
  writeFileSync(BROKEN, '{"a": [1\n');
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe.each(COMMANDS)('bad input of baton $name', (row) => {
  const { name } = row;
  let command: Command;

  beforeAll(async () => {
    command = new Command(name);
    await row.complete(command, () => undefined);
  });

  it('names an unknown option, and the option meant or the list', async () => {
    expect(await sentenceOf([name, '--hlep'])).toContain("'--hlep'; did you mean '--help'?");
    expect(await sentenceOf([name, '--xyzzy-quux'])).toBe(
      `unknown option '--xyzzy-quux'. Run \`baton ${name} --help=all\` for the list.`,
    );
  });

  it('shows how to write an option without its value', async () => {
    for (const { long, flags } of optionsWithValue(command)) {
      expect(await sentenceOf([name, long!])).toBe(`${long!} needs a value: ${flags}.`);
    }
  });

  it('names a surplus argument, and an argument that is missing', async () => {
    const { registeredArguments: accepted } = command;
    if (accepted.at(-1)?.variadic !== true) {
      const words = [...accepted.map(() => '1P1D'), 'surplus'];
      expect(await sentenceOf([name, ...words])).toMatch(/accepts .*'surplus'/);
    }
    if (accepted[0]?.required !== true) return;
    expect(await sentenceOf([name])).toContain(`${name} needs <${accepted[0].name()}>: `);
    expect(await sentenceOf([name, 'xyzzy'])).toMatch(/^<\w+> must be .*'xyzzy' is not\.$/);
  });
});

const REPLAY = ['replay', '--dataset', 'random', '--num-prompts', '1'];
const PLAN = ['plan', '--dataset', 'random', '--num-prompts', '1', '--slo', 'ttft=2s'];
const STEP_TIME = ['--step-time', 'calibrated', '--step-time-file'];

describe('bad input', () => {
  it.each<[string[], string]>([
    [['upp'], "unknown command 'upp'; did you mean 'up'?"],
    [['xyzzy-quux'], "unknown command 'xyzzy-quux'. Run `baton --help` for the list."],
    [['help', 'upp'], "unknown command 'upp'; did you mean 'up'?"],
    [['--port', '80', 'up'], "unknown option '--port'. Write the command before its options"],
    [
      ['calibrate', 'a.jsonl'],
      "calibrate accepts no argument 'a.jsonl'. Write --input a.jsonl, or",
    ],
    [['replay', 'a.jsonl'], "replay accepts no argument 'a.jsonl'. Write --trace a.jsonl, or"],
    [['plan', '2P2D'], "plan accepts no argument '2P2D'. Write --trace 2P2D, or remove it."],
    [['replay', '2P2D'], "replay accepts no argument '2P2D'. Write --topology 2P2D, or remove it."],
    [['bench', 'http://x'], "bench accepts no argument 'http://x'. Write --base-url http://x, or"],
    [['doctor', 'x'], "doctor accepts no argument 'x'. Remove it."],
    [['up', '2P2D', '1P'], "up accepts one topology. Remove '1P'."],
    [['up', '2X'], 'Topology "2X" is not understood: write for example 2P3D'],
    [['profiles', 'show', 'llama-3.1-8b', 'b.yaml'], 'profiles show accepts one profile. Remove b'],
    [
      ['profiles', 'show', 'llama-3.1-8b', 'h200'],
      'Remove h200, or name a deployment as --model NAME --gpu NAME.',
    ],
    [
      ['profiles', 'show', tmpdir()],
      `${tmpdir()} is a folder. Name one of its files; \`baton profile`,
    ],
    [
      ['profiles', 'list', 'h200'],
      'There is no file or folder h200. Without a path, `baton profiles',
    ],
    [
      ['bench', '--dataset', 'nope', '--port', '1'],
      '--dataset must be one of trace, random, shared',
    ],
    [['demo', '--trace', 'nope'], "'nope' is neither a file nor a shipped trace (mooncake-conv"],
    [
      ['demo', '--dataset', 'random', '--limit', '3'],
      '--limit has no effect on the dataset random.',
    ],
    [
      ['up', '--text-model', 'rules'],
      'needs a YAML file of rules. Name it with --rules-path FILE.',
    ],
    [
      ['up', '--text-model', 'dataset', '--answers-path', 'no.jsonl'],
      'no.jsonl cannot be read: ENO',
    ],
    [
      ['up', '--output-length', 'histogram'],
      'output_length histogram needs output_length_histogram.',
    ],
    [['policy', 'new', ''], "'' is not a name for a policy. Use for example my-policy."],
    [['policy', 'new'], 'policy new needs a name: `baton policy new my-policy`.'],
    [['policy', 'test'], 'policy test needs a module: `baton policy test ./my-policy.mjs'],
    [['policy', 'ask', 'x'], 'policy ask uses a program on stdin and stdout. Remove x.'],
    [['policy', 'new', 'x', '--kind', 'y'], '--kind must be one of placement, decode-placement,'],
    [['docs', '--port', 'x'], '--port x is not a port. Use a number from 1 to 65535.'],
    [['completion', 'fish'], "<shell> must be bash or zsh; 'fish' is not."],
    [['up', '--help=modell'], 'nor an option of baton up; did you mean --help=model?'],
    [['bench', '--help=xyzzy'], 'Run `baton bench --help=listgroup` for the groups.'],
    [['calibrate'], 'There is nothing to fit. Add --input FILE…'],
  ])('%j is refused with the remedy', async (args, sentence) => {
    expect(await sentenceOf(args)).toContain(sentence);
  });

  it.each<[string[]]>([
    [['up', '--config']],
    [['up', '--model']],
    [['up', '--gpu']],
    [['up', ...STEP_TIME]],
    [['up', '--operators']],
    [['up', '--api-keys-file']],
    [[...REPLAY, '--config']],
    [[...REPLAY, ...STEP_TIME]],
    [[...REPLAY, '--gpu-price']],
    [['replay', '--trace']],
    [['replay', '--dataset', 'sharegpt', '--dataset-file']],
    [[...PLAN, '--space']],
    [[...PLAN.slice(0, 1), ...PLAN.slice(-2), '--gpus', '2', '--trace']],
    [['calibrate', '--input']],
    [['calibrate', '--operators']],
    [['profiles', 'show']],
    [['profiles', 'list']],
    [['profiles', 'plot', '--out', join(folder, 'x.svg')]],
    [['policy', 'test', join(folder, 'absent.mjs'), '--config']],
  ])('%j with an absent, a broken or an unreadable file is refused with its path', async (args) => {
    for (const path of [ABSENT, BROKEN, folder]) {
      if (args[1] === 'list' && path !== ABSENT) continue;
      expect(await sentenceOf([...args, path])).toContain(path);
    }
  });
});
