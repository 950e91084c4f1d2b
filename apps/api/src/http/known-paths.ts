import type { BatonConfig } from '@baton/runtime';

type Switch = 'enableAdmin' | 'enableDevMode' | 'allowRuntimeLoraUpdating';

interface KnownPath {
  readonly path: RegExp;
  readonly methods: readonly string[];
  /** Without this option nothing is served there. */
  readonly needs?: Switch;
}

const DEV_QUERIES = /^\/(server_info|is_sleeping|is_paused)$/;
const DEV_ACTIONS =
  /^\/(reset_(prefix|mm|encoder)_cache|sleep|wake_up|pause|resume|abort_requests)$/;

/** Every path that is served, with its methods: what tells a wrong method from a wrong path. */
const KNOWN_PATHS: readonly KnownPath[] = [
  { path: /^\/v1\/(chat\/)?completions(\/(de)?render)?$/, methods: ['POST'] },
  { path: /^\/v1\/chat\/completions\/batch$/, methods: ['POST'] },
  {
    path: /^\/(v1\/embeddings|pooling|classify|(v1\/)?score|(v[12]\/)?rerank)$/,
    methods: ['POST'],
  },
  { path: /^\/v1\/messages(\/count_tokens)?$/, methods: ['POST'] },
  { path: /^\/v1\/responses(\/(input_tokens|compact))?$/, methods: ['POST'] },
  { path: /^\/v1\/responses\/[^/]+$/, methods: ['GET', 'DELETE'] },
  { path: /^\/v1\/responses\/[^/]+\/input_items$/, methods: ['GET'] },
  { path: /^\/v1\/responses\/[^/]+\/cancel$/, methods: ['POST'] },
  { path: /^\/v1\/conversations$/, methods: ['POST'] },
  { path: /^\/v1\/conversations\/[^/]+$/, methods: ['GET', 'POST', 'DELETE'] },
  { path: /^\/v1\/conversations\/[^/]+\/items$/, methods: ['GET', 'POST'] },
  { path: /^\/v1\/conversations\/[^/]+\/items\/[^/]+$/, methods: ['GET', 'DELETE'] },
  { path: /^\/v1\/requests\/[^/]+\/timeline$/, methods: ['GET'] },
  { path: /^\/ui(\/(stream|assets\/[^/]+)?)?$/, methods: ['GET'] },
  { path: /^\/inference\/v1\/generate$/, methods: ['POST'] },
  { path: /^\/(tokenize|detokenize)$/, methods: ['POST'] },
  { path: /^\/tokenizer_info$/, methods: ['GET'] },
  { path: /^\/v1\/models(\/.+)?$/, methods: ['GET'] },
  { path: /^\/(health|health\/live|health\/ready|version|metrics|load)$/, methods: ['GET'] },
  { path: /^\/ping$/, methods: ['GET', 'POST'] },
  {
    path: /^\/v1\/(un)?load_lora_adapter$/,
    methods: ['POST'],
    needs: 'allowRuntimeLoraUpdating',
  },
  { path: DEV_QUERIES, methods: ['GET'], needs: 'enableDevMode' },
  { path: DEV_ACTIONS, methods: ['POST'], needs: 'enableDevMode' },
  { path: /^\/admin\/config$/, methods: ['GET', 'POST'], needs: 'enableAdmin' },
  { path: /^\/admin\/engines$/, methods: ['GET', 'POST'], needs: 'enableAdmin' },
  { path: /^\/admin\/engines\/[^/]+$/, methods: ['DELETE'], needs: 'enableAdmin' },
  { path: /^\/admin\/engines\/[^/]+\/role$/, methods: ['POST'], needs: 'enableAdmin' },
];

/** The methods that `url` takes; undefined when nothing is served there. */
export function methodsOf(
  url: string,
  config: Pick<BatonConfig, Switch | 'dialect'>,
): readonly string[] | undefined {
  const path = url.split('?', 1)[0] ?? url;
  const isServed = ({ needs }: KnownPath): boolean => needs === undefined || config[needs];
  const methods = KNOWN_PATHS.find((known) => isServed(known) && known.path.test(path))?.methods;
  if (methods === undefined || config.dialect === 'vllm') return methods;
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
