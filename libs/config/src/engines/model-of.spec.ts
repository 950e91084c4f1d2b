import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { modelOf } from './model-of';

const CONFIG = {
  model_type: 'llama',
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 4,
  intermediate_size: 256,
  vocab_size: 512,
  max_position_embeddings: 1024,
};
const folder = mkdtempSync(join(tmpdir(), 'baton-model-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a model from a file', () => {
  it('has the name of its folder, or its own when it is no config.json', () => {
    const own = join(folder, 'tiny');
    mkdirSync(own);
    writeFileSync(join(own, 'config.json'), JSON.stringify(CONFIG));
    cpSync(join(own, 'config.json'), join(own, 'smaller.json'));
    expect(modelOf(own).name).toBe('tiny');
    expect(modelOf(join(own, 'config.json')).name).toBe('tiny');
    expect(modelOf(join(own, 'smaller.json')).name).toBe('smaller');
  });

  it('is refused in one sentence when the folder has no config.json', () => {
    expect(() => modelOf(folder)).toThrow(`model folder ${folder} has no config.json.`);
  });
});
