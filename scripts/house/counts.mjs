// The counts of a checkout, in the order of the output.
import * as lines from './lines.mjs';
import * as rooms from './rooms.mjs';
import * as shapes from './shapes.mjs';

const LIB_LINES = 5_000;
const FOLDER_FILES = 25;
const PARAMETERS = 9;
const PRODUCT = ['apps', 'libs', 'bench', 'validation'];
const AROUND = ['.ci', 'bin', 'deploy', 'examples', 'packages', 'scripts', 'test'];

/** `[{ name, count, target, worst }]`; a count without a target is a fact, not a rule. */
export function countsOf(tree) {
  return [...sizes(tree), ...houses(tree), ...edges(tree), ...declarations(tree), ...copies(tree)];
}

function sizes({ product, root }) {
  const lengths = lines.functionLengths(product);
  return [
    fact('files', product.length),
    fact('lines', lines.totalLines(product)),
    fact('lines of code', lines.codeLines(product)),
    fact('functions', lengths.length),
    fact('function lines, median', lines.quantile(lengths, 0.5)),
    fact('function lines, p90', lines.quantile(lengths, 0.9)),
    { name: 'function lines, max', count: lengths.at(-1) ?? 0, target: 70, worst: [] },
    rule(
      'lines wider than 100',
      [...lines.wideLines(root, PRODUCT), ...lines.wideComments(root, AROUND)],
      0,
    ),
  ];
}

function houses({ product }) {
  const libs = groupedBy(product, ({ path }) => rooms.libOf(path));
  libs.delete(undefined);
  const bySize = [...libs]
    .map(([name, files]) => [name, lines.totalLines(files)])
    .sort((a, b) => b[1] - a[1]);
  const folders = rooms.folderSizes(product);
  return [
    over('libs above 5,000 lines', bySize, LIB_LINES),
    over('folders above 25 files', folders, FOLDER_FILES),
    over('constructors above 9 parameters', shapes.constructors(product), PARAMETERS),
    most('providers in one module', shapes.moduleLists(product, 'providers')),
    most('controllers in one module', shapes.moduleLists(product, 'controllers')),
  ];
}

function groupedBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function edges({ product }) {
  const api = rooms.edgesBetween(product, rooms.apiRoom);
  const libs = rooms.edgesBetween(product, rooms.libFolder);
  return [
    fact('folders of apps/api', api.size),
    fact('imports between folders of apps/api', rooms.edgeCount(api)),
    rule('folders of apps/api that import each other', rooms.mutualPairs(api), 0),
    rule('folders of libs that import each other', rooms.mutualPairs(libs), 0),
  ];
}

function declarations(tree) {
  const { product } = tree;
  const apps = product.filter(({ path }) => path.startsWith('apps/') && path.includes('/src/'));
  return [
    rule('export * lines', shapes.starExports(product), 0),
    rule('exported names with two definitions', shapes.doubleNames(product), 0),
    rule('ends that do not say what ends', shapes.unnamedEnds(product), 0),
    rule('services fetched with app.get', shapes.matches(apps, /\bapp\.get\(/g), 0),
    rule('test doubles in dist', shapes.testDoubles(tree), 0),
  ];
}

function copies({ product }) {
  const clocks = shapes.matches(product, /performance\.timeOrigin \+ performance\.now\(\)/g);
  return [
    rule('private readers of JSON', shapes.privateReaders(product), 0),
    rule('readings of the wall clock in microseconds', clocks, 1),
  ];
}

function fact(name, count) {
  return { name, count, worst: [] };
}

/** The number of the found items, and their names. */
function rule(name, found, target) {
  return { name, count: found.length, target, worst: [...found] };
}

/** The number and the names of `[name, size]` above the limit. */
function over(name, sized, limit) {
  const above = sized.filter(([, size]) => size > limit);
  return rule(
    name,
    above.map(([each, size]) => `${each} ${size}`),
    0,
  );
}

/** The largest of `[name, size]`. */
function most(name, sized) {
  return { name, count: sized[0]?.[1] ?? 0, worst: sized.map(([each, size]) => `${each} ${size}`) };
}
