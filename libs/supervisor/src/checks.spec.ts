import { defaultConfig } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { checkApiProcesses, checkEngines, checkEngineShare } from './checks';
import { NO_ENGINES, planProcesses } from './cluster-plan';

const PAIR = { ...NO_ENGINES, prefill: 1, decode: 1 };
const URLS = { prefillUrl: ['http://p:1'], decodeUrl: ['http://d:1'] };

function check(executorFor: string[], engines = PAIR): void {
  checkEngines(defaultConfig({ executorFor, ...URLS }), engines);
}

describe('executors of the stages of one cluster', () => {
  it('may each be simulated or on servers', () => {
    expect(() => check([])).not.toThrow();
    expect(() => check(['prefill=vllm'])).not.toThrow();
    expect(() => check(['prefill=vllm', 'decode=vllm'])).not.toThrow();
  });

  it('are refused when one cannot read the KV of the other', () => {
    const mixed = ['prefill=llamacpp', 'decode=vllm'];
    expect(() => check(mixed)).toThrow('prefill=llamacpp cannot hand over to decode=vllm');
    const alone = { ...NO_ENGINES, decode: 1 };
    expect(() => check(mixed, alone)).not.toThrow();
  });

  it('must exist', () => {
    expect(() => check(['decode=onnx'])).toThrow('simulate, vllm, llamacpp');
  });

  it('report missing parts of a local model before anything starts', () => {
    const config = defaultConfig({ executor: 'llamacpp', llamacppModel: 'no such file.gguf' });
    expect(() => checkEngines(config, PAIR)).toThrow(/optional package|there is no file/);
  });

  it('refuses a placement policy that does not load', () => {
    const config = defaultConfig({ placement: './absent.mjs' });
    expect(() => checkEngines(config, PAIR)).toThrow('The policy ./absent.mjs does not exist.');
  });
});

describe('several API processes', () => {
  it('need a server that they share', () => {
    for (const apiProcesses of ['1', 'auto']) {
      expect(() => checkApiProcesses({ apiProcesses })).not.toThrow();
    }
    expect(() => checkApiProcesses({ apiProcesses: '2' })).toThrow(
      '--api-processes 2 needs a Redis server that the processes share.',
    );
  });
});

describe('the engines of a worker', () => {
  const share = (engines: number, cores: number): void => {
    const counts = { ...NO_ENGINES, prefill: engines, decode: engines };
    checkEngineShare(planProcesses(defaultConfig({}), counts, cores));
  };

  it('are at most as many as it can announce in time', () => {
    expect(() => share(150, 2)).not.toThrow();
    expect(() => share(500, 8)).not.toThrow();
    expect(() => share(500, 2)).toThrow(
      'This machine would run 500 of the 1000 engines in one worker, and a worker with a broker ' +
        'can have 150. Add --broker in-process, which runs all of them in one process, or use a ' +
        'machine with 7 cores or more.',
    );
  });
});
