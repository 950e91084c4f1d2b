// node serve.mjs [--model FILE] [--port N] [--threads N] [--sequences N] [--peer http://HOST:PORT
// ...]
import { parseArgs } from 'node:util';
import { startServer } from './http/server.mjs';
import { wholeNumber, wrongUsage } from './options.mjs';
import { DEFAULT_MODEL } from './places.mjs';

try {
  const { values } = parseArgs({
    options: {
      model: { type: 'string', default: DEFAULT_MODEL },
      'served-model-name': { type: 'string', default: 'llamacpp' },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8000' },
      threads: { type: 'string', default: '1' },
      sequences: { type: 'string', default: '8' },
      'max-model-len': { type: 'string', default: '4096' },
      'kv-lease-duration': { type: 'string', default: '30' },
      'kv-load-failure-policy': { type: 'string', default: 'fail' },
      peer: { type: 'string', multiple: true, default: [] },
    },
  });
  const policy = values['kv-load-failure-policy'];
  if (policy !== 'fail' && policy !== 'recompute') {
    wrongUsage('--kv-load-failure-policy is fail or recompute.');
  }
  const peers = new Set(values.peer.map((peer) => new URL(peer).origin));
  const server = await startServer({
    path: values.model,
    servedModel: values['served-model-name'],
    host: values.host,
    port: wholeNumber('port', values.port, [0, 65_535]),
    threads: wholeNumber('threads', values.threads, [1, 1_024]),
    sequences: wholeNumber('sequences', values.sequences, [1, 256]),
    contextTokens: wholeNumber('max-model-len', values['max-model-len'], [2, 2 ** 20]),
    kvLeaseMs: 1_000 * wholeNumber('kv-lease-duration', values['kv-lease-duration'], [1, 86_400]),
    loadFailurePolicy: policy,
    isPeer: async ({ origin }) => peers.has(origin),
    log: (sentence) => console.error(sentence),
  });
  console.log(`listening at ${server.url}`);
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => void server.close().then(() => process.exit(0)));
  }
} catch (error) {
  console.error(error.message);
  process.exit(/^ERR_PARSE_ARGS|^ERR_INVALID_URL|^USAGE/.test(error.code ?? '') ? 2 : 1);
}
