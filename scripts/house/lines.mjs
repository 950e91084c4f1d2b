// Lines, and functions by their length.
import ts from 'typescript';
import { nodesOf } from './tree.mjs';

export function totalLines(files) {
  return files.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** Lines that are neither blank nor comment nor import. */
export function codeLines(files) {
  return files.reduce((sum, file) => sum + codeLinesOf(file), 0);
}

function codeLinesOf({ ast, lines }) {
  const imported = new Set(ast.statements.filter(ts.isImportDeclaration).flatMap(linesFrom(ast)));
  let isComment = false;
  return lines.filter((line, index) => {
    const text = line.trim();
    const starts = isComment || text.startsWith('/*');
    isComment = starts && !text.includes('*/');
    return text !== '' && !starts && !text.startsWith('//') && !imported.has(index);
  }).length;
}

function linesFrom(ast) {
  return (node) => {
    const [first, last] = [node.getStart(ast), node.end].map((at) => lineAt(ast, at));
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  };
}

function lineAt(ast, position) {
  return ast.getLineAndCharacterOfPosition(position).line;
}

/** Lengths in lines of all functions with a body in braces, the shortest first. */
export function functionLengths(files) {
  return files
    .flatMap(({ ast }) =>
      nodesOf(ast)
        .filter(isFunction)
        .map((node) => span(ast, node)),
    )
    .sort((a, b) => a - b);
}

function isFunction(node) {
  return ts.isFunctionLike(node) && node.body !== undefined && ts.isBlock(node.body);
}

function span(ast, node) {
  return lineAt(ast, node.end) - lineAt(ast, node.getStart(ast)) + 1;
}

export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
