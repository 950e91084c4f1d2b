// The content of a checkout: its code files, each parsed once, and their imports.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOMS = ['apps', 'libs', 'bench', 'validation'];
const MADE = new Set(['.git', 'node_modules', 'dist', 'coverage', 'out', '.baton']);

/** Paths of all files below `folder`, from `root`, with forward slashes, in order. */
export function filesBelow(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !MADE.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(root, path) : [path];
    });
}

/**
 * A checkout. `product` is the code that runs: TypeScript below apps, libs, bench and validation,
 * without specs; `specs` are the specs beside it and their test doubles.
 */
export function readTree(root) {
  const paths = ROOMS.flatMap((room) => filesBelow(root, room)).filter(isTypeScript);
  const files = new Map(paths.map((path) => [path, readSource(root, path)]));
  for (const file of files.values()) {
    file.imports = file.specifiers.flatMap((name) => resolved(files, file.path, name) ?? []);
  }
  const all = [...files.values()];
  return {
    root,
    all,
    product: all.filter(({ path }) => !isSpec(path)),
    specs: all.filter(({ path }) => isSpec(path)),
    file: (path) => files.get(path),
  };
}

function isTypeScript(path) {
  return /\.m?ts$/.test(path) && !path.endsWith('.d.ts');
}

function isSpec(path) {
  return path.endsWith('.spec.ts') || /^(libs|apps)\/[^/]+\/test\//.test(path);
}

function readSource(root, path) {
  const text = readFileSync(join(root, path), 'utf8');
  const ast = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return { path, text, lines: linesOf(text), ast, specifiers: specifiersIn(ast), imports: [] };
}

function linesOf(text) {
  return text.replace(/\n$/, '').split('\n');
}

/** Every node of a file, parents before children. */
export function nodesOf(node) {
  const found = [];
  const visit = (each) => {
    found.push(each);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

/** The strings behind `from` and within `import()`. */
function specifiersIn(ast) {
  const found = [];
  for (const node of nodesOf(ast)) {
    const from = ts.isCallExpression(node) ? calledImport(node) : node.moduleSpecifier;
    if (from !== undefined && ts.isStringLiteral(from)) found.push(from.text);
  }
  return [...new Set(found)];
}

function calledImport(call) {
  return call.expression.kind === ts.SyntaxKind.ImportKeyword ? call.arguments[0] : undefined;
}

/** The file of the checkout that an import names. Undefined for a package. */
function resolved(files, from, name) {
  const lib = /^@baton\/([^/]+)$/.exec(name)?.[1];
  if (lib !== undefined) return `libs/${lib}/src/index.ts`;
  if (!name.startsWith('.')) return undefined;
  const base = join(dirname(from), name);
  return [`${base}.ts`, `${base}.mts`, `${base}/index.ts`, base].find((path) => files.has(path));
}
