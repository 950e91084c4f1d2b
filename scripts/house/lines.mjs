// Lines, and functions by their length.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { filesBelow, nodesOf } from './tree.mjs';

/** No line of code, comment or document is wider, in characters. */
export const WIDTH = 100;

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

const CODE = /\.(ts|mts|mjs|cjs|js)$/;
/** Files that have no ending or are not JavaScript. */
const SCRIPT = /^(bin|\.ci)\/[^.]+$|\.py$/;

/**
 * `path:line` of the lines of code and comments that are wider than `WIDTH`. Lines inside a
 * template of several lines are text, where a break would be part of it, and do not count. Prettier
 * keeps the title of a test on the line of its call, for any length.
 */
export function wideLines(root, rooms) {
  const paths = rooms.flatMap((room) => filesBelow(root, room)).filter((path) => CODE.test(path));
  return paths.flatMap((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    const wide = source.split('\n').flatMap((line, index) => (isWide(line) ? [index] : []));
    if (wide.length === 0) return [];
    const texts = templateLines(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
    return wide.filter((index) => !texts.has(index)).map((index) => `${path}:${index + 1}`);
  });
}

const COMMENT = /^\s*(\/\/|\/\*|\*|#)/;

/**
 * The same for lines of comments, below rooms whose texts quote other programs, and in the files of
 * the root.
 */
export function wideComments(root, rooms) {
  const below = rooms.flatMap((room) => filesBelow(root, room));
  const ofRoot = readdirSync(root, { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );
  const paths = [...below, ...ofRoot].filter((path) => CODE.test(path) || SCRIPT.test(path));
  return paths.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        COMMENT.test(line) && isWide(line) ? [`${path}:${index + 1}`] : [],
      ),
  );
}

const TEST_TITLE = /^\s*(?:it|describe)\b[^'"`]*\(['"`]/;

function isWide(line) {
  return line.length > WIDTH && !TEST_TITLE.test(line);
}

/** The lines of templates, except templates of one line. */
function templateLines(ast) {
  const templates = nodesOf(ast).filter(ts.isTemplateLiteral).map(linesFrom(ast));
  return new Set(templates.filter((lines) => lines.length > 1).flat());
}
