// Writes a Llama model with random weights: node write-gguf.mjs [--out FILE] [--seed N] [--layers
// N] [--width N] ...
import { parseArgs } from 'node:util';
import { DEFAULT_SHAPE, kvBytesPerToken } from './gguf/random-llama.mjs';
import { writeRandomGguf } from './gguf/write.mjs';
import { wholeNumber, wrongUsage } from './options.mjs';
import { DEFAULT_MODEL } from './places.mjs';

const names = {
  layers: 'layers',
  width: 'width',
  heads: 'heads',
  'kv-heads': 'kvHeads',
  'feed-forward': 'feedForward',
  vocab: 'vocab',
  context: 'context',
};

try {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: DEFAULT_MODEL },
      seed: { type: 'string', default: '1' },
      ...Object.fromEntries(Object.keys(names).map((name) => [name, { type: 'string' }])),
    },
  });
  const given = Object.entries(names).flatMap(([name, key]) =>
    values[name] === undefined
      ? []
      : [[key, wholeNumber(name, values[name], [name === 'vocab' ? 1200 : 1, 1 << 17])]],
  );
  const shape = { ...DEFAULT_SHAPE, ...Object.fromEntries(given) };
  if (shape.width % (shape.heads * 2) !== 0 || shape.heads % shape.kvHeads !== 0) {
    wrongUsage('width must be a multiple of twice heads, and heads one of kv-heads.');
  }
  const seed = wholeNumber('seed', values.seed, [0, 2 ** 31]);
  const { parameters, bytes } = await writeRandomGguf(values.out, { shape, seed });
  console.log(
    `${values.out}: ${(parameters / 1e6).toFixed(1)} M parameters, ${(bytes / 1e6).toFixed(1)} MB, ${kvBytesPerToken(shape)} bytes of KV a token`,
  );
} catch (error) {
  console.error(error.message);
  process.exitCode = /^ERR_PARSE_ARGS|^USAGE/.test(error.code ?? '') ? 2 : 1;
}
