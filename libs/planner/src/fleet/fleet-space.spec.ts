import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { combinationsOf, readFleetSpace } from './fleet-space';

function read(yaml: string) {
  return readFleetSpace(parse(yaml), 'fleet.yaml');
}

describe('a space', () => {
  it('has defaults for all but its GPUs', () => {
    expect(read('gpus: { H100-SXM: 8 }')).toMatchObject({
      gpus: new Map([['h100', 8]]),
      tensorParallelSizes: [1, 2, 4, 8],
      kinds: ['disaggregated', 'aggregated', 'mixed'],
      budgetUsdPerHour: Infinity,
      vary: [],
      trials: 48,
    });
  });

  it('varies any option of the configuration', () => {
    const space = read(
      'gpus: { h100: 8 }\n' +
        'vary: { quantization: [none, fp8], max-num-seqs: [64, 256], data_parallel_size: [1, 2] }',
    );
    expect(combinationsOf(space)).toHaveLength(8);
    expect(combinationsOf(space)[0]).toEqual({
      quantization: 'none',
      maxNumSeqs: 64,
      dataParallelSize: 1,
    });
  });

  it.each([
    ['[]', 'fleet.yaml must be a map: gpus, '],
    ['gpu: { h100: 8 }', 'fleet.yaml: gpu is unknown; the fields are gpus, '],
    ['gpus: h100', 'fleet.yaml: gpus must be a map of GPUs to their numbers'],
    ['gpus: { h100: 0 }', 'fleet.yaml: gpus.h100 must be an integer from 1 to 4096.'],
    ['gpus: { h1000: 8 }', 'fleet.yaml: gpus.h1000 is not a GPU of the catalogue. Unknown GPU'],
    [
      'gpus: { h100: 8 }\ntensor_parallel_size: 2',
      'tensor_parallel_size must be a list of integers from 1 to 64.',
    ],
    ['gpus: { h100: 8 }\nkinds: [split]', 'kinds must be a list of some of disaggregated, '],
    ['gpus: { h100: 8 }\nloads: [0]', 'loads must be a list of numbers above 0.'],
    ['gpus: { h100: 8 }\nbudget_usd_per_hour: -1', 'budget_usd_per_hour must be a number above 0.'],
    ['gpus: { h100: 8 }\ntrials: 0', 'trials must be an integer from 1 to 10000.'],
    [
      'gpus: { h100: 8 }\nvary: { placment: [pull] }',
      "fleet.yaml: vary.placment is not an option; did you mean 'placement'?",
    ],
    ['gpus: { h100: 8 }\nvary: { max_num_seqs: 8 }', 'vary.max_num_seqs must be a list of values.'],
    ['gpus: { h100: 8 }\nvary: { max_num_seqs: [many] }', 'fleet.yaml: vary.max_num_seqs must be'],
    ['gpus: { h100: 8 }\nvary: { topology: [1P1D] }', 'vary.topology is chosen by the search'],
  ])('%j is refused in one sentence that names the field', (yaml, sentence) => {
    expect(() => read(yaml)).toThrow(sentence);
  });
});
