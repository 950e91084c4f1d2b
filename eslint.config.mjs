import { readFileSync } from 'node:fs';
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Folders of a pure lib that may touch the world, as in .dependency-cruiser.cjs. */
const TOUCHING = ['live', 'host', 'files'];
const { pure: PURE } = JSON.parse(
  readFileSync(new URL('scripts/house/layers.json', import.meta.url), 'utf8'),
);
const CLOCKS = [
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
];
const OUTSIDE = ['process', 'fetch', 'crypto', 'console'];

/** Prettier breaks code; this rule also sees comments. Texts of several lines keep their lines. */
const width = {
  'max-len': [
    'error',
    { code: 100, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
  ],
};
const sizes = { 'max-lines-per-function': ['error', { max: 70 }], ...width };

/** `LINT_TYPES=no` leaves out the rules that need the types of the whole program. */
const hasTypes = process.env.LINT_TYPES !== 'no';

const typed = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  // A decorated class keeps its imports, which only tsconfig.json tells.
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { considerDefaultExhaustiveForUnions: true },
  ],
};

const clarity = {
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-unused-vars': [
    'error',
    { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
  ],
  '@typescript-eslint/ban-ts-comment': 'error',
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'no-console': 'error',
  'preserve-caught-error': 'off',
  'no-control-regex': 'off',
  'prefer-const': 'error',
};

/**
 * A fourth parameter is an options object; constructors are excused, they only take in what others
 * hand them.
 */
const parameters = [
  'FunctionDeclaration',
  'ArrowFunctionExpression',
  ':not(MethodDefinition[kind="constructor"]) > FunctionExpression',
].map((node) => ({
  selector: `${node}[params.length>3]`,
  message: 'At most three parameters; take an options object.',
}));

/**
 * User errors come from a catalogue and broken invariants from `assert`; nothing else is thrown.
 */
const bareErrors = {
  selector: "ThrowStatement > NewExpression[callee.name='Error']",
  message: 'Throw a BatonError or UsageError, or use assert from @baton/kernel.',
};

/** A door names what it gives. */
const starExports = {
  selector: 'ExportAllDeclaration[exported=null]',
  message: 'Export by name.',
};

/** Inner loops that may not allocate an options object, and tables written one row a call. */
const MANY_PARAMETERS = ['libs/kernel/src/event-queue.ts', 'libs/contract/src/errors.ts'];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', 'out/', 'data/', '**/*.d.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,mts}'],
    extends: [tseslint.configs.recommended],
    languageOptions: {
      parserOptions: { projectService: hasTypes, tsconfigRootDir: import.meta.dirname },
    },
    rules: { ...sizes, ...clarity, ...(hasTypes ? typed : {}) },
  },
  {
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: { 'no-restricted-syntax': ['error', bareErrors, starExports, ...parameters] },
  },
  { files: MANY_PARAMETERS, rules: { 'no-restricted-syntax': ['error', bareErrors] } },
  {
    files: PURE.map((path) => `libs/${path}/**/*.ts`),
    ignores: ['**/*.spec.ts', `libs/*/src/{${TOUCHING.join(',')}}/**`],
    rules: {
      'no-restricted-globals': [
        'error',
        ...[...CLOCKS, ...OUTSIDE].map((name) => ({
          name,
          message: 'A pure lib gets time and effects as arguments.',
        })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Chance comes from a named RandomStream.' },
      ],
      'no-restricted-imports': [
        'error',
        { patterns: ['node:*', '@nestjs/*', 'bullmq', 'ioredis', 'prom-client', 'pino', 'undici'] },
      ],
    },
  },
  { files: ['**/*.spec.ts', 'test/conformance/**'], rules: { 'max-lines-per-function': 'off' } },
  {
    files: ['**/*.{mjs,cjs}', 'bin/*'],
    rules: width,
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'fetch',
          'module',
          'require',
          'performance',
          'URL',
          'Buffer',
          '__dirname',
          'setTimeout',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  { files: ['scripts/**', 'bench/**', 'validation/**'], rules: { 'no-console': 'off' } },
);
