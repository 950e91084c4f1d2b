import { configKeys, flagName, optionOf, resolveConfig } from '@baton/config';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addConfigOptions } from './options';
import { spelledWithDashes } from './spelled-with-dashes';

function commandWithOptions(): Command {
  const command = new Command('up').exitOverride();
  addConfigOptions(command);
  return command;
}

function parsed(...args: string[]): Record<string, unknown> {
  return commandWithOptions().parse(args.map(spelledWithDashes), { from: 'user' }).opts();
}

describe('flags', () => {
  it('exist for every option, and the help lists those that are not hidden', () => {
    const help = commandWithOptions().helpInformation();
    for (const key of configKeys()) {
      const flags = [flagName(key), flagName(key).replace('--', '--no-')];
      const isShown = flags.some((flag) => new RegExp(`^ +${flag}\\b`, 'm').test(help));
      expect(isShown, key).toBe(optionOf(key).hidden !== true);
    }
  });

  it('have only given values, under the name of the option', () => {
    expect(parsed('--max-num-seqs', '8')).toEqual({ maxNumSeqs: '8' });
  });

  it('may have underscores, and keep their values', () => {
    expect(parsed('--max_num_seqs=8', '--served_model_name=a_b')).toEqual({
      maxNumSeqs: '8',
      servedModelName: 'a_b',
    });
  });

  it('may have a second name, which sets the same option', () => {
    for (const flag of ['--scheduling', '--scheduling-policy']) {
      const flags = parsed(flag, 'sjf') as Record<string, string>;
      const { config, origins } = resolveConfig({ flags });
      expect([config.schedulingPolicy, origins.schedulingPolicy]).toEqual(['sjf', 'flag']);
    }
  });

  it('of a list may be repeated, or have a JSON array', () => {
    expect(parsed('--api-key', 'a')).toEqual({ apiKey: 'a' });
    expect(parsed('--api-key', 'a', '--api-key', 'b')).toEqual({ apiKey: '["a","b"]' });
    expect(parsed('--api-key', '["a","b"]', '--api-key=c')).toEqual({ apiKey: '["a","b","c"]' });
    expect(parsed('--api-key', 'a', 'b')).toEqual({ apiKey: '["a","b"]' });
  });

  it('switch options on and off', () => {
    expect(parsed('--no-enable-prefix-caching', '--expose-engines')).toEqual({
      enablePrefixCaching: false,
      exposeEngines: true,
    });
  });
});
