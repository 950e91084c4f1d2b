import { isMap, isScalar, LineCounter, parseDocument, type Pair } from 'yaml';
import { type ConfigKey, configKeys, isConfigKey, optionOf } from './config';
import { fileName, keyOf, nearestName } from './names';
import type { OptionValue } from './option';
import { readTyped } from './read-value';
import { UsageError } from './usage-error';

export type FileValues = ReadonlyMap<ConfigKey, OptionValue>;

/**
 * Reads a YAML (or JSON) configuration: a flat map of option names. Throws a UsageError that begins with `path:line:column` for
 * bad syntax, an unknown or repeated key, and a value of the wrong type or out of range.
 */
export function readConfigFile(path: string, content: string): FileValues {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const [syntaxError] = document.errors;
  if (syntaxError) throw new UsageError(`${at(syntaxError.pos[0])}: ${syntaxError.message}`);
  const values = new Map<ConfigKey, OptionValue>();
  if (document.contents === null) return values;
  if (!isMap(document.contents)) {
    throw new UsageError(`${at(0)}: a configuration is a map of option names to values.`);
  }
  for (const pair of document.contents.items) readPair(pair, values, at);
  return values;
}

function readPair(
  pair: Pair,
  values: Map<ConfigKey, OptionValue>,
  at: (offset: number) => string,
): void {
  const name = isScalar(pair.key) ? String(pair.key.value) : '';
  const where = at(offsetOf(pair.key));
  const key = keyOf(name);
  if (!isConfigKey(key)) throw new UsageError(`${where}: ${unknownName(name)}`);
  if (values.has(key)) throw new UsageError(`${where}: ${fileName(key)} is given twice.`);
  const given = isScalar(pair.value) ? pair.value.value : (pair.value ?? null);
  const read = readTyped(optionOf(key), given);
  if (read.kind === 'problem') {
    throw new UsageError(`${at(offsetOf(pair.value))}: ${fileName(key)} must be ${read.expected}.`);
  }
  values.set(key, read.value);
}

function unknownName(name: string): string {
  const nearest = nearestName(name.replaceAll('-', '_'), configKeys().map(fileName));
  return `unknown option '${name}'${nearest === undefined ? '.' : `; did you mean '${nearest}'?`}`;
}

function offsetOf(node: unknown): number {
  if (typeof node !== 'object' || node === null || !('range' in node)) return 0;
  const range: unknown = node.range;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : 0;
}
