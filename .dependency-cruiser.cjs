// Who may import whom. The picture of these layers is in docs/ARCHITECTURE.md.
const PURE = [
  'kernel',
  'hardware',
  'kvcache',
  'engine',
  'handoff',
  'placement',
  'workload',
  'cluster',
  'analysis',
  'planner',
  'faults',
];

const EFFECTS =
  '^(node:|@nestjs/|bullmq|ioredis|prom-client|pino|nestjs-pino|undici|fastify|commander|cli-progress|yaml|gpt-tokenizer)';

/** What each lib may import besides itself. Nothing listed: nothing. */
const MAY_IMPORT = {
  kernel: [],
  hardware: ['kernel'],
  kvcache: ['kernel', 'hardware'],
  engine: ['kernel', 'hardware', 'kvcache'],
  handoff: ['kernel', 'hardware', 'kvcache', 'engine'],
  placement: ['kernel', 'hardware', 'kvcache', 'engine'],
  workload: ['kernel', 'hardware', 'kvcache', 'engine'],
  analysis: ['kernel', 'hardware', 'kvcache', 'engine'],
  cluster: [
    'kernel',
    'hardware',
    'kvcache',
    'engine',
    'handoff',
    'placement',
    'workload',
    'analysis',
  ],
  planner: ['kernel', 'hardware', 'engine', 'placement', 'workload', 'analysis', 'cluster'],
  contract: ['kernel'],
  faults: ['kernel', 'contract'],
  transport: ['kernel', 'contract'],
  text: ['kernel', 'contract', 'workload'],
  openai: ['kernel', 'contract', 'text'],
  loadgen: ['kernel', 'workload', 'analysis'],
  runtime: ['.*'],
  report: ['kernel', 'hardware', 'workload', 'analysis', 'cluster'],
};

const layers = Object.entries(MAY_IMPORT).map(([lib, allowed]) => ({
  name: `layer-${lib}`,
  comment: `${lib} may import: ${allowed.join(', ') || 'no other lib'}`,
  severity: 'error',
  from: { path: `^libs/${lib}/` },
  to: { path: '^libs/', pathNot: `^libs/(${[lib, ...allowed].join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...layers,
    {
      name: 'runtime-knows-no-report',
      comment: 'The glue of the live processes has nothing to do with offline reports.',
      severity: 'error',
      from: { path: '^libs/runtime/' },
      to: { path: '^libs/report/' },
    },
    {
      name: 'every-lib-has-a-layer',
      comment: 'A new lib gets its line in MAY_IMPORT first.',
      severity: 'error',
      from: { path: '^libs/', pathNot: `^libs/(${Object.keys(MAY_IMPORT).join('|')})/` },
      to: {},
    },
    {
      name: 'nothing-imports-an-app',
      severity: 'error',
      from: { path: '^(libs|apps/([^/]+))/' },
      to: { path: '^apps/', pathNot: '^apps/$2/' },
    },
    {
      name: 'the-page-runs-in-a-browser',
      comment: 'Of the house it knows types alone, and of node_modules what runs without Node.',
      severity: 'error',
      from: { path: '^apps/ui/src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(libs/|node:)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'index-is-the-only-door',
      comment: 'A lib is entered through src/index.ts.',
      severity: 'error',
      from: { path: '^(?:libs|apps)/([^/]+)/' },
      to: { path: '^libs/([^/]+)/src/', pathNot: ['^libs/$1/', '^libs/[^/]+/src/index\\.ts$'] },
    },
    {
      name: 'pure-libs-have-no-effects',
      comment: 'Time, chance and I/O reach a pure lib as arguments.',
      severity: 'error',
      from: { path: `^libs/(${PURE.join('|')})/`, pathNot: '\\.spec\\.ts$' },
      to: { path: EFFECTS },
    },
    {
      name: 'pure-libs-use-no-node-module',
      severity: 'error',
      from: { path: `^libs/(${PURE.join('|')})/`, pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-cycle',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
