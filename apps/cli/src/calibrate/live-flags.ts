import { UsageError } from '@baton/config';
import type { ServerAccess } from '@baton/loadgen';
import type { LiveRequest, LoadRequest, Span } from '@baton/calibration';
import { FlagValues } from '@baton/replay';
import { Command, Option } from 'commander';
import { readServerFlags } from '../bench/server-flags';
import { addConfigOptions } from '../options';
import { partConfig } from '../replay/replay-flags';
import type { Flags } from './calibrate-flags';

interface FlagRow {
  readonly value?: string;
  readonly help: string;
}

const ROWS = {
  baseUrl: {
    value: 'url',
    help: 'URL of the server, without the path of the endpoint (default: http://127.0.0.1:8000).',
  },
  backend: { value: 'name', help: 'openai (completions) or openai-chat (default: openai).' },
  apiKey: {
    value: 'key',
    help: 'API key, sent as a bearer token (default: the environment variable OPENAI_API_KEY).',
  },
  servedModelName: {
    value: 'name',
    help: 'Model in the requests (default: the first of /v1/models).',
  },
  extraBody: {
    value: 'json',
    help: 'Additional fields of every request, for example {"temperature": 0}.',
  },
  noIgnoreEos: { help: 'Do not request exact output lengths, for servers that refuse them.' },
  requestTimeout: { value: 's', help: 'Time limit of one request, in seconds (default: 120).' },
  quick: { help: 'Measure a small grid in three rounds, and a short load.' },
  promptLengths: {
    value: 'list',
    help: 'Lengths of the measured prompts, in tokens (default: 32,64,128,256,512,1024,2048).',
  },
  decodeBatches: { value: 'list', help: 'Streams that decode together (default: 1,2,4,8).' },
  decodeContexts: {
    value: 'list',
    help: 'Prompt lengths of the streams that decode together, in tokens (default: 64,256,1024).',
  },
  rounds: {
    value: 'n',
    help: 'Measurements per point; their median is used (default: 5).',
  },
  savePoints: { value: 'file', help: 'Write the fitted points to this file, for --input.' },
  loadRequests: {
    value: 'n',
    help: 'Requests of the load that checks the fit by a replay. 0: no load (default: 60).',
  },
  loadRate: {
    value: 'x',
    help: 'Poisson load in requests per second (default: the rate at which engines are 40 % busy).',
  },
  loadClients: { value: 'n', help: 'Clients of a closed loop, instead of --load-rate.' },
  loadInputLen: {
    value: 'a:b',
    help: 'Prompt lengths of the load, a to b tokens (default: those of the grid).',
  },
  loadOutputLen: {
    value: 'a:b',
    help: 'Answer lengths of the load, a to b tokens (default: 8:48).',
  },
  maxError: {
    value: 'share',
    help:
      'End with exit code 1 if a mean, median or rate of the load has a larger relative error, ' +
      'for example 0.1 (default: no check).',
  },
} as const satisfies Record<string, FlagRow>;

/** The formats of weights and KV cache of the measured server. */
export const FORMAT_FLAGS = ['quantization', 'dtype', 'kvCacheDtype'];
/** Further inputs of the composed steps of the measured server, and the folder of operators. */
export const FACTOR_FLAGS = [
  ...['framework', 'vllmVersion', 'asyncScheduling', 'dataParallelSize', 'enableExpertParallel'],
  'operators',
];
const WITH_FILES = ['model', 'gpu', 'tp', 'maxNumBatchedTokens', 'seed'];

type LiveFlag = keyof typeof ROWS;

const GROUP = 'Live:';
const QUICK = { promptLengths: '32,128,384', decodeBatches: '1,4', decodeContexts: '32,256' };
const FULL = {
  promptLengths: '32,64,128,256,512,1024,2048',
  decodeBatches: '1,2,4,8',
  decodeContexts: '64,256,1024',
};
const FOOTER = `
--live also accepts the options of \`baton up\` that describe the cluster: --topology,
--max-num-seqs, --config FILE …`;
const MOST_TOKENS = 1_000_000;

/** Also accepts the options of the configuration, but hides them in the help. */
export function addLiveOptions(command: Command): void {
  command.addOption(
    new Option('--live', 'Measure a running cluster instead of reading files.').helpGroup(GROUP),
  );
  for (const [name, { value, help }] of Object.entries<FlagRow>(ROWS)) {
    const flag = flagOf(name) + (value === undefined ? '' : ` <${value}>`);
    command.addOption(new Option(flag, help).helpGroup(GROUP));
  }
  const cluster = new Command();
  addConfigOptions(cluster);
  const known = new Set(command.options.map(({ long }) => long));
  for (const option of cluster.options) {
    if (!known.has(option.long)) command.addOption(option.hideHelp());
  }
  command.addHelpText('after', FOOTER);
}

export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Returns the given flags that apply only with `--live`. */
export function liveFlagsIn(flags: Flags): string[] {
  const { config, own } = partConfig(flags as Record<string, string>);
  const alsoWithFiles = new Set([...WITH_FILES, ...FORMAT_FLAGS, ...FACTOR_FLAGS]);
  const names = Object.keys(config).filter((name) => !alsoWithFiles.has(name));
  return [...names, ...Object.keys(own).filter((name) => name === 'config' || name in ROWS)].map(
    flagOf,
  );
}

/** @throws UsageError, one sentence */
export function readLiveFlags(flags: Flags): LiveRequest {
  const texts = Object.entries(flags).filter(([, value]) => typeof value === 'string');
  const values = new FlagValues<LiveFlag>(Object.fromEntries(texts) as Record<string, string>);
  const isQuick = flags['quick'] === true;
  const list = (name: keyof typeof FULL): readonly number[] =>
    listOf(values.text(name) ?? (isQuick ? QUICK : FULL)[name], values, name);
  const { config } = partConfig(flags as Record<string, string>);
  return {
    server: serverOf(values),
    ignoreEos: flags['ignoreEos'] !== false,
    requestTimeoutMs: (values.seconds('requestTimeout') ?? 120) * 1_000,
    cluster: clusterOf(config, flags),
    configFile: typeof flags['config'] === 'string' ? flags['config'] : undefined,
    promptLengths: list('promptLengths'),
    batches: list('decodeBatches'),
    contexts: list('decodeContexts'),
    rounds: values.count('rounds', 1, 100) ?? (isQuick ? 3 : 5),
    savePoints: values.text('savePoints'),
    load: loadFlags(values, isQuick),
    maxError: values.positive('maxError'),
  };
}

/**
 * The configuration of the cluster: without the command's own flags, except model, GPUs, budget and
 * seed.
 */
function clusterOf(config: Readonly<Record<string, string | boolean>>, { tp }: Flags) {
  const own = Object.entries(config).filter(([name]) => !(name in ROWS));
  const degree = typeof tp === 'string' ? { tensorParallelSize: tp } : {};
  return { ...Object.fromEntries(own), ...degree };
}

function loadFlags(values: FlagValues<LiveFlag>, isQuick: boolean): LoadRequest {
  if (values.has('loadRate') && values.has('loadClients')) {
    throw new UsageError('--load-rate and --load-clients exclude each other. Remove one.');
  }
  return {
    requests: values.count('loadRequests', 0, 1_000_000) ?? (isQuick ? 20 : 60),
    ratePerSecond: values.positive('loadRate'),
    clients: values.count('loadClients', 1, 10_000),
    promptTokens: spanOf(values, 'loadInputLen'),
    outputTokens: spanOf(values, 'loadOutputLen') ?? [8, isQuick ? 24 : 48],
  };
}

function serverOf(values: FlagValues<LiveFlag>): ServerAccess {
  const backend = values.choice('backend', ['openai', 'openai-chat']);
  const given = {
    baseUrl: values.text('baseUrl'),
    backend,
    apiKey: values.text('apiKey'),
    model: values.text('servedModelName'),
    extraBody: values.text('extraBody'),
  };
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return readServerFlags(new FlagValues(Object.fromEntries(known) as Record<string, string>), []);
}

function listOf(text: string, values: FlagValues<LiveFlag>, name: LiveFlag): readonly number[] {
  const numbers = text.split(',').map(Number);
  const isGood = numbers.every((n) => Number.isInteger(n) && n >= 1 && n <= MOST_TOKENS);
  if (!isGood || numbers.length > 64) {
    throw values.wrongValue(name, 'a list of up to 64 whole numbers from 1, such as 32,128,512');
  }
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function spanOf(values: FlagValues<LiveFlag>, name: LiveFlag): Span | undefined {
  const text = values.text(name);
  if (text === undefined) return undefined;
  const [low = NaN, high = low] = text.split(':').map(Number);
  const isGood = [low, high].every((n) => Number.isInteger(n) && n >= 1 && n <= MOST_TOKENS);
  if (isGood && high >= low) return [low, high];
  throw values.wrongValue(name, 'one or two whole numbers from 1, such as 40:900');
}
