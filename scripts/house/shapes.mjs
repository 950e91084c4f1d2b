// The form of declarations: constructors, modules, exports, readers that should be shared.
import ts from 'typescript';
import { nodesOf } from './tree.mjs';

/** `[class, parameters]` of all constructors, the longest list first. */
export function constructors(files) {
  return files
    .flatMap(({ path, ast }) =>
      nodesOf(ast)
        .filter(ts.isConstructorDeclaration)
        .filter(({ body }) => body !== undefined)
        .map((node) => [`${path} ${node.parent.name?.text ?? ''}`, node.parameters.length]),
    )
    .sort((a, b) => b[1] - a[1]);
}

/** `[file, entries]` of the lists called `key` in Nest modules (`providers`, `controllers`). */
export function moduleLists(files, key) {
  return files
    .filter(({ path }) => path.endsWith('module.ts'))
    .map(({ path, ast }) => [path, listed(ast, key)])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1]);
}

function listed(ast, key) {
  const arrays = arraysOf(ast);
  return nodesOf(ast)
    .filter((node) => ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node))
    .filter(({ name }) => name.getText(ast) === key)
    .reduce((sum, node) => sum + entries(node.initializer ?? node.name, arrays), 0);
}

function arraysOf(ast) {
  const named = nodesOf(ast).filter(
    (node) => ts.isVariableDeclaration(node) && node.initializer !== undefined,
  );
  return new Map(named.map((node) => [node.name.getText(ast), node.initializer]));
}

function entries(node, arrays) {
  if (ts.isAsExpression(node)) return entries(node.expression, arrays);
  if (ts.isIdentifier(node))
    return arrays.has(node.text) ? entries(arrays.get(node.text), new Map()) : 1;
  if (!ts.isArrayLiteralExpression(node)) return 1;
  return node.elements.reduce(
    (sum, each) => sum + (ts.isSpreadElement(each) ? entries(each.expression, arrays) : 1),
    0,
  );
}

/** `path: what` of every `export * from`. */
export function starExports(files) {
  return files.flatMap(({ path, ast }) =>
    ast.statements
      .filter((node) => ts.isExportDeclaration(node) && node.exportClause === undefined)
      .map((node) => `${path}: ${node.moduleSpecifier.text}`),
  );
}

/** Exported names that two or more files declare. */
export function doubleNames(files) {
  const homes = new Map();
  for (const { path, ast } of files) {
    for (const name of ast.statements.filter(isExported).flatMap(namesOf)) {
      homes.set(name, new Set([...(homes.get(name) ?? []), path]));
    }
  }
  return [...homes]
    .filter(([, paths]) => paths.size > 1)
    .map(([name]) => name)
    .sort();
}

function isExported(node) {
  return (node.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function namesOf(node) {
  if (ts.isVariableStatement(node)) {
    return node.declarationList.declarations.flatMap(({ name }) => name.text ?? []);
  }
  return node.name?.text ?? [];
}

const ENDS = new Set(['end', 'ended', 'finish', 'finished']);
/** The facts that observers receive are about a sequence, and their port says so. */
const OBSERVER = /\b(RequestObserver|ObservedEvents)\b/;

/** `path Class.method` of the methods whose verb does not say what ends. */
export function unnamedEnds(files) {
  return files.flatMap(({ path, ast }) =>
    nodesOf(ast)
      .filter((node) => ts.isMethodDeclaration(node) && isUnnamedEnd(node, ast))
      .map((node) => `${path} ${node.parent.name?.text ?? ''}.${node.name.getText(ast)}`),
  );
}

/** `close()` frees what the object owns; with an argument, it ends something else. */
function isUnnamedEnd({ name, parameters, parent }, ast) {
  const verb = name.getText(ast);
  if (!ENDS.has(verb)) return verb === 'close' && parameters.length > 0;
  return !(parent.heritageClauses ?? []).some((each) => OBSERVER.test(each.getText(ast)));
}

const READERS = new Set(['textOf', 'isObject', 'isRecord', 'countOf', 'recordOf', 'fieldsOf']);

/** `path name` of readers of parsed JSON that are private to a file. */
export function privateReaders(files) {
  return files.flatMap(({ path, ast }) =>
    ast.statements
      .filter((node) => ts.isFunctionDeclaration(node) && !isExported(node))
      .flatMap(namesOf)
      .filter((name) => READERS.has(name))
      .map((name) => `${path} ${name}`),
  );
}

/** `path` once per match of `pattern` in the text. */
export function matches(files, pattern) {
  return files.flatMap(({ path, text }) => [...text.matchAll(pattern)].map(() => path));
}

const ENTRY = /(^|\/)(main|index)\.m?ts$/;

/** Compiled files that only specs and other such files import. */
export function testDoubles({ product, specs }) {
  const imported = new Set(product.flatMap(({ imports }) => imports));
  const tested = new Set(specs.flatMap(({ imports }) => imports));
  const isDouble = ({ path }) => tested.has(path) && !imported.has(path) && !ENTRY.test(path);
  const doubles = new Set(product.filter(isDouble).map(({ path }) => path));
  const inTest = product.filter(({ path }) => /^(apps|libs)\/[^/]+\/test\//.test(path));
  for (const { path } of inTest) doubles.add(path);
  return [...doubles].sort();
}
