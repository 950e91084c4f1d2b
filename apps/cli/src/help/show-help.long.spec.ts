import { Command, Help } from 'commander';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../test/test-command';
import { COMMANDS } from '../commands';
import { COMMON_OPTIONS } from './common-options';
import { GROUP_CONTENTS } from './groups';

const LONG = Object.keys(COMMON_OPTIONS);

async function helpOf(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(...args);
  expect([exitCode, stderr]).toEqual([0, '']);
  return stdout;
}

/** The options that a help lists, in its order. */
function listed(help: string): string[] {
  return [...help.matchAll(/^ {2}(?:-h, )?(--[\w-]+)/gm)].map(([, flag]) => flag!);
}

async function optionsOf(name: string) {
  const command = new Command(name);
  await COMMANDS.find((row) => row.name === name)!.complete(command, () => undefined);
  return new Help().visibleOptions(command);
}

describe.each(LONG)('the help of %s', (name) => {
  it('lists ten to twenty-five common options, and every group with its contents', async () => {
    const help = await helpOf(name, '--help');
    expect(listed(help)).toEqual(COMMON_OPTIONS[name]);
    expect(listed(help).length).toBeGreaterThanOrEqual(10);
    expect(listed(help).length).toBeLessThanOrEqual(25);
    const titles = (await optionsOf(name)).map(({ helpGroupHeading = 'Options:' }) =>
      helpGroupHeading.slice(0, -1),
    );
    for (const title of new Set(titles)) {
      if (title === 'Options') continue;
      expect(Object.keys(GROUP_CONTENTS)).toContain(title);
      const topic = title.toLowerCase().replaceAll(' ', '-');
      expect(help).toMatch(new RegExp(`^  ${topic} .*\\w`, 'm'));
      expect(await helpOf(name, `--help=${topic}`)).toContain(`\n${title}:\n`);
    }
  });

  it('lists every option with --help=all', async () => {
    const all = (await optionsOf(name)).map(({ long }) => long);
    expect(listed(await helpOf(name, '--help=all')).sort()).toEqual(all.sort());
  });

  it('fits 100 columns in every form', async () => {
    for (const topic of ['--help', '--help=listgroup', '--help=all', '--help=num']) {
      const lines = (await helpOf(name, topic)).split('\n');
      expect(lines.filter((line) => line.length > 100)).toEqual([]);
    }
  });
});

describe('a topic of the help', () => {
  it('is a group, also by its first word', async () => {
    const group = ['--autoscaler', '--scale-policy', '--min', '--max', '--scale-interval'];
    expect(listed(await helpOf('up', '--help=autoscaling'))).toEqual([
      ...group,
      '--scale-metrics-age',
    ]);
    const classes = await helpOf('replay', '--help=slo');
    expect(classes).toBe(await helpOf('replay', '--help=slo-classes-and-flow-control'));
    expect(classes).toBe(await helpOf('replay', '--help=SLO classes and flow control'));
  });

  it('is an option, with underscores or dashes', async () => {
    for (const topic of ['max-num-seqs', 'max_num_seqs', '--max-num-seqs']) {
      expect(listed(await helpOf('up', `--help=${topic}`))).toEqual(['--max-num-seqs']);
    }
  });

  it('is a part of the names of options', async () => {
    const flags = listed(await helpOf('up', '--help=lora'));
    expect(flags).toContain('--enable-lora');
    expect(flags.every((flag) => flag.includes('lora'))).toBe(true);
  });

  it('is the list of groups, which ends with further forms', async () => {
    const list = await helpOf('plan', '--help=listgroup');
    expect(listed(list)).toEqual([]);
    expect(list).toMatch(/^ {2}step-time {2}/m);
    expect(list).toMatch(/^ {2}baton plan --help=all /m);
  });

  it('may stand behind other arguments, and applies to a command with few options', async () => {
    expect(listed(await helpOf('up', '2P2D', '--port', '1', '--help=text'))).toContain(
      '--text-model',
    );
    expect(await helpOf('docs', '--help=all')).toBe(await helpOf('docs', '--help'));
    expect(await helpOf('help', 'up')).toBe(await helpOf('up', '-h'));
  });
});
