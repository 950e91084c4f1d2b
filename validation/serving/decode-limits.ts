import { rowsOf } from '../files';

/**
 * Most sequences of one engine that decodes, or of one data-parallel rank, by the `row` of
 * given.csv: `max_batch_size` of the public recipe of the run, of which recipes.csv has the name.
 * Only for disaggregated runs of TensorRT-LLM.
 */
export const DECODE_LIMITS: ReadonlyMap<string, number> = new Map(
  rowsOf('measured', 'serving', 'recipes.csv').map((row) => [
    row['row']!,
    Number(row['decode_sequences']),
  ]),
);
