// Who may import whom. The tables are in scripts/house/layers.json, which `npm run docs` makes from
// the imports; it refuses circles. docs/ARCHITECTURE.md shows them as a picture.
const {
  pure: PURE,
  libs: LIBS,
  specs: SPECS,
  api: API,
  folders: FOLDERS,
} = require('./scripts/house/layers.json');

const EFFECTS =
  '^(node:|@nestjs/|bullmq|ioredis|prom-client|pino|nestjs-pino|undici|fastify|commander|cli-progress|yaml|gpt-tokenizer)';

/** Folders of a pure lib that may touch the world: files, threads, timers. */
const TOUCHING = '^libs/[^/]+/src/(live|host|files)/';

/** Specs and their test doubles. */
const SPEC = '(\\.spec\\.ts$|^(libs|apps)/[^/]+/test/)';

/** A lib imports what its row names; its specs import what the row of specs names as well. */
const layers = Object.entries(LIBS).flatMap(([lib, allowed]) => [
  layer(lib, [lib, ...allowed], { name: `layer-${lib}`, pathNot: SPEC }),
  layer(lib, [lib, ...allowed, ...(SPECS[lib] ?? [])], { name: `layer-${lib}-specs` }),
]);

function layer(lib, allowed, { name, pathNot }) {
  return {
    name,
    comment: `${lib} imports: ${allowed.join(', ')}. A new import needs \`npm run docs\`.`,
    severity: 'error',
    from: { path: `^libs/${lib}/`, ...(pathNot === undefined ? {} : { pathNot }) },
    to: { path: '^libs/', pathNot: `^libs/(${allowed.join('|')})/` },
  };
}

/**
 * Folders of apps/api whose folders are rooms themselves: the rest of such a floor is its files.
 */
const FLOORS = ['request', 'observers', 'endpoints', 'compat'];

function filesOf(room) {
  return FLOORS.includes(room) ? `${room}/[^/]+$` : `${room}/`;
}

/** The same between the folders of apps/api. */
const folders = Object.entries(API).map(([folder, before]) => {
  const allowed = [folder, ...before];
  return {
    name: `folder-${folder.replace('/', '-')}`,
    comment: `apps/api/src/${folder} imports: ${allowed.join(', ')}.`,
    severity: 'error',
    from: { path: `^apps/api/src/${filesOf(folder)}`, pathNot: SPEC },
    to: {
      path: '^apps/api/src/[^/]+/',
      pathNot: `^apps/api/src/(${allowed.map(filesOf).join('|')})`,
    },
  };
});

/** The same between the folders of a lib. Files at its root bind them and may import each. */
const libFolders = Object.entries(FOLDERS).flatMap(([lib, rooms]) =>
  Object.entries(rooms).map(([folder, before]) => ({
    name: `folder-${lib}-${folder}`,
    comment: `libs/${lib}/src/${folder} imports: ${before.join(', ')}.`,
    severity: 'error',
    from: { path: `^libs/${lib}/src/${folder}/`, pathNot: SPEC },
    to: {
      path: `^libs/${lib}/src/[^/]+/`,
      pathNot: `^libs/${lib}/src/(${[folder, ...before].join('|')})/`,
    },
  })),
);

module.exports = {
  forbidden: [
    ...layers,
    ...folders,
    ...libFolders,
    {
      name: 'every-lib-has-a-layer',
      comment: 'A new lib gets its row in scripts/house/layers.json by `npm run docs`.',
      severity: 'error',
      from: { path: '^libs/', pathNot: `^libs/(${Object.keys(LIBS).join('|')})/` },
      to: {},
    },
    {
      name: 'nothing-imports-an-app',
      comment: 'An engine needs the ways of both stages, whichever process it is in.',
      severity: 'error',
      from: { path: '^(libs|apps/([^/]+))/', pathNot: '^libs/engine-host/test/stage-ways' },
      to: { path: '^apps/', pathNot: ['^apps/$2/', '^apps/(prefill|decode)/src/[^/]+-way\\.ts$'] },
    },
    {
      name: 'the-page-runs-in-a-browser',
      comment: 'Of the house it knows types alone, and of node_modules what runs without Node.',
      severity: 'error',
      from: { path: '^apps/ui/src/', pathNot: SPEC },
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
      name: 'no-product-file-imports-a-test-double',
      comment: 'apps/<app>/test and libs/<lib>/test are not compiled into dist.',
      severity: 'error',
      from: {
        path: '^(libs|apps|bench|validation)/',
        pathNot: ['\\.spec\\.ts$', '^libs/[^/]+/test/', '^apps/[^/]+/test/'],
      },
      to: { path: ['^libs/[^/]+/test/', '^apps/[^/]+/test/', '^test/'] },
    },
    {
      name: 'pure-libs-have-no-effects',
      comment: 'Time, chance and I/O reach a pure lib as arguments.',
      severity: 'error',
      from: { path: `^libs/(${PURE.join('|')})/`, pathNot: [SPEC, TOUCHING] },
      to: { path: EFFECTS },
    },
    {
      name: 'pure-libs-use-no-node-module',
      severity: 'error',
      from: { path: `^libs/(${PURE.join('|')})/`, pathNot: [SPEC, TOUCHING] },
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
