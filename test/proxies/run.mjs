// Sends the battery through P/D proxies that you have started in front of a running Baton with
// --expose-engines, and judges the answers.
import { parseArgs } from 'node:util';
import { judged } from './judge.mjs';

const HELP = `npm run judge:proxy -- [options] URL…

Sends a battery of requests to the proxy at each URL and checks that every one of them is answered with the
text that the cluster gives when it is asked itself, that its KV is handed over once, and that nothing is
held afterwards. Nothing else may use the cluster meanwhile.

  --cluster URL        the Baton whose engines the proxies send to (http://127.0.0.1:8000)
  --counted-at URL     whose metrics count hand-overs, where that is not the cluster
  --model NAME         what the requests ask for, where a proxy insists on it
  --conversation-id    conversations carry a conversation_id, as vLLM's multi-turn proxy wants it, and decode
                       may keep what it has (--bidirectional-kv-xfer)
  --only TEXT          the cases whose name has it
  --settle SECONDS     how long the cluster may take to come to rest after each case (45)
  --help

OPENAI_API_KEY is sent along when it is set. Exit code: 0 all is well, 1 something is not, 2 wrong usage.

Example, with vLLM's toy proxy:
  baton up 1P1D --dialect vllm --expose-engines
  python toy_proxy_server.py --port 8192 --prefiller-port 8100 --decoder-port 8101
  npm run judge:proxy -- http://127.0.0.1:8192

Baton itself in front of vLLM servers (NIXL push is counted by prefill):
  baton up 1P1D --executor vllm --prefill-url http://p:8000 --decode-url http://d:8000 --served-model-name NAME
  npm run judge:proxy -- --model NAME --cluster http://d:8000 http://127.0.0.1:8000
`;

const OPTIONS = {
  cluster: { type: 'string', default: 'http://127.0.0.1:8000' },
  'counted-at': { type: 'string' },
  model: { type: 'string' },
  'conversation-id': { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  settle: { type: 'string', default: '45' },
  help: { type: 'boolean', default: false },
};

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  let asked;
  try {
    asked = readArguments(args);
  } catch (error) {
    process.stderr.write(`${error.message}\nnpm run judge:proxy -- --help shows how.\n`);
    return 2;
  }
  if (asked.help) {
    process.stdout.write(HELP);
    return 0;
  }
  try {
    return (await judged(asked)) === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

/** Throws with one sentence on wrong usage. */
function readArguments(args) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.help) return { help: true };
  const settle = Number(values.settle);
  if (!(settle > 0)) throw new Error('--settle is a number of seconds above 0.');
  if (positionals.length === 0) throw new Error('Which proxies? Give the URL of one at least.');
  const [cluster, ...proxies] = [values.cluster, ...positionals].map(httpUrl);
  const { model, only, 'conversation-id': conversationId } = values;
  const countedAt = httpUrl(values['counted-at'] ?? cluster);
  return { cluster, proxies, countedAt, settleMs: settle * 1_000, model, only, conversationId };
}

function httpUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!/^https?:$/.test(url?.protocol ?? '')) throw new Error(`Not an http or https URL: ${text}`);
  return url.href;
}
