/** Every path that is served, with its methods: what tells a wrong method from a wrong path. */
const KNOWN_PATHS: readonly { readonly path: RegExp; readonly methods: readonly string[] }[] = [
  { path: /^\/v1\/(chat\/completions|completions)$/, methods: ['POST'] },
  {
    path: /^\/(v1\/embeddings|pooling|classify|(v1\/)?score|(v[12]\/)?rerank)$/,
    methods: ['POST'],
  },
  { path: /^\/v1\/messages(\/count_tokens)?$/, methods: ['POST'] },
  { path: /^\/(tokenize|detokenize)$/, methods: ['POST'] },
  { path: /^\/tokenizer_info$/, methods: ['GET'] },
  { path: /^\/v1\/models(\/.+)?$/, methods: ['GET'] },
  { path: /^\/(health|health\/live|health\/ready|version|metrics)$/, methods: ['GET'] },
  { path: /^\/ping$/, methods: ['GET', 'POST'] },
];

/** The methods that `url` takes; undefined when nothing is served there. */
export function methodsOf(url: string): readonly string[] | undefined {
  const path = url.split('?', 1)[0] ?? url;
  return KNOWN_PATHS.find((known) => known.path.test(path))?.methods;
}
