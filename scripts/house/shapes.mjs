// The shapes that a request takes on its way, and the classes on it that only pass calls on.
import ts from 'typescript';
import { nodesOf } from './tree.mjs';

/** A type that has one of these fields is about one request. */
const FIELDS = new Set([
  ...['requestId', 'request', 'call', 'body', 'prompt', 'promptTokens', 'promptTokenIds'],
  ...[
    'sequence',
    'sequences',
    'spec',
    'job',
    'jobs',
    'run',
    'checked',
    'response',
    'plan',
    'plans',
  ],
]);

/**
 * The types of the product that a function on the way takes as an argument and that have a field of
 * a request, as `name (file)`. Read from the syntax, so that a type of a package does not count.
 */
export function shapesOf({ product }, entered) {
  const homes = new Map();
  for (const [name, path] of product.flatMap(requestTypes)) {
    homes.set(name, [...(homes.get(name) ?? []), path]);
  }
  const names = new Map();
  for (const { file, name } of entered) names.set(file, (names.get(file) ?? new Set()).add(name));
  const found = new Set();
  for (const { path, ast, imports } of product.filter(({ path }) => names.has(path))) {
    const sees = (home) =>
      home === path || imports.some((each) => each === home || isDoor(each, home));
    for (const node of nodesOf(ast)) {
      if (!isEntered(node, names.get(path), ast)) continue;
      for (const type of node.parameters.flatMap(({ type }) => (type ? nodesOf(type) : []))) {
        const name = ts.isTypeReferenceNode(type) ? type.typeName.getText(ast) : undefined;
        const home = homes.get(name)?.find(sees);
        if (home !== undefined) found.add(`${name} (${home})`);
      }
    }
  }
  return [...found].sort();
}

function isDoor(path, home) {
  return path.endsWith('/src/index.ts') && home.startsWith(path.slice(0, -'index.ts'.length));
}

function isEntered(node, names, ast) {
  if (!ts.isFunctionLike(node) || node.body === undefined) return false;
  if (ts.isConstructorDeclaration(node)) return names.has(node.parent.name?.getText(ast));
  return names.has(node.name?.getText(ast));
}

function requestTypes({ path, ast }) {
  return ast.statements
    .filter((node) => membersOf(node).some((name) => FIELDS.has(name)))
    .map((node) => [node.name.text, path]);
}

/** Names of the fields of a declared type, the parameters of a class's constructor included. */
function membersOf(node) {
  if (ts.isInterfaceDeclaration(node)) return node.members.flatMap(nameOf);
  if (ts.isTypeAliasDeclaration(node)) {
    return ts.isTypeLiteralNode(node.type) ? node.type.members.flatMap(nameOf) : [];
  }
  if (!ts.isClassDeclaration(node) || node.name === undefined) return [];
  const built = node.members.filter(ts.isConstructorDeclaration).flatMap((each) => each.parameters);
  const fields = node.members.filter(ts.isPropertyDeclaration);
  return [...built.filter((each) => each.modifiers !== undefined), ...fields].flatMap(nameOf);
}

function nameOf({ name }) {
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}

/**
 * `file class` of the classes in `paths` whose methods each do no more than call one function with
 * some of their own parameters.
 */
export function passingClasses({ product }, paths) {
  const onWay = new Set(paths);
  return product
    .filter(({ path }) => onWay.has(path))
    .flatMap(({ path, ast }) =>
      nodesOf(ast)
        .filter(ts.isClassDeclaration)
        .filter((node) => onlyPasses(node, ast))
        .map((node) => `${path} ${node.name?.text ?? ''}`),
    );
}

function onlyPasses({ members }, ast) {
  const methods = members.filter(ts.isMethodDeclaration);
  return methods.length > 0 && methods.every((method) => passes(method, ast));
}

function passes({ body, parameters }, ast) {
  if (body?.statements.length !== 1) return false;
  const [statement] = body.statements;
  let call = statement.expression;
  if (call !== undefined && ts.isAwaitExpression(call)) call = call.expression;
  if (call === undefined || !ts.isCallExpression(call)) return false;
  const own = new Set(parameters.map(({ name }) => name.getText(ast)));
  return call.arguments.every((each) => own.has(each.getText(ast)));
}
