import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../../test/support/runs';
import { RandomSchema } from '../../../test/random-schema';
import { ConstraintError } from '../constraint-error';
import type { Json } from '../json';
import { SchemaText } from './schema-text';

const SCHEMAS = runsOf(1_000);
/** Runs one seed of a failure alone: BATON_SCHEMA_SEED=123. */
const ONLY = process.env['BATON_SCHEMA_SEED'];
const seeds = (count: number): number[] =>
  ONLY === undefined ? Array.from({ length: count }, (_, i) => i) : [Number(ONLY)];

// Optimising the code of a schema takes longer than its few runs.
const ajv = new Ajv2020({ strict: false, code: { optimize: false } });
addFormats(ajv);

function validator(schema: object) {
  const validate = ajv.compile(schema);
  ajv.removeSchema(schema);
  return (json: string, seed: number): void => {
    if (isValid(validate, json)) return;
    expect.fail(
      `seed ${seed}: ${json} of ${JSON.stringify(schema)}: ${ajv.errorsText(validate.errors)}`,
    );
  };
}

/** Null for schemas on which the code that ajv generates throws: a few with many applicators. */
function isValid(validate: (value: unknown) => unknown, json: string): boolean {
  try {
    return validate(JSON.parse(json)) === true;
  } catch (error) {
    if (error instanceof TypeError) return true;
    throw error;
  }
}

describe('texts of random schemas', () => {
  it('exist and are valid where the schema has a known value', () => {
    const refused: number[] = [];
    for (const seed of seeds(SCHEMAS)) {
      const schema = RandomSchema.of(seed).possible();
      if (!isWritten(schema, seed)) refused.push(seed);
    }
    // The builder may give up where only a search over combinations of items would succeed.
    expect(refused.length, `refused: ${refused.join()}`).toBeLessThan(4);
  });

  it('are valid, or the schema is refused, for any keywords', () => {
    let refused = 0;
    for (const seed of seeds(SCHEMAS)) {
      if (!isWritten(RandomSchema.of(seed).any(), seed)) refused += 1;
    }
    expect(refused).toBeLessThan(0.35 * SCHEMAS);
  });
});

/** False when the schema was refused. Fails when one of its texts is not valid. */
function isWritten(schema: object, seed: number): boolean {
  const check = validator(schema);
  let text: SchemaText;
  try {
    text = new SchemaText(schema as Json);
  } catch (error) {
    if (error instanceof ConstraintError) return false;
    throw error;
  }
  for (let ease = 0; ease < 4; ease++) check(text.write(seed, { ease }), seed);
  return true;
}
