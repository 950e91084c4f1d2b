import { nearestName } from '@baton/kernel';
import { isCollection, isMap, isNode, isScalar, LineCounter, parseDocument, type Pair } from 'yaml';
import { type BatonConfig, type ConfigKey, configKeys, isConfigKey, optionOf } from './config';
import {
  foreignMeaning,
  type ForeignMeaning,
  foreignNames,
  isForeignSection,
} from './foreign/foreign-name';
import { fileName, keyOf } from './names';
import type { OptionValue } from './option';
import { readTyped, whereIn } from './read-value';
import { UsageError } from './usage-error';
import { renamedTo } from './renamed';

export type FileValues = ReadonlyMap<ConfigKey, OptionValue>;

export interface ConfigFile {
  readonly values: FileValues;
  /** Values implied by names of other simulators, used where nothing else sets them. */
  readonly implied: Partial<BatonConfig>;
  /** One sentence per name accepted without effect. */
  readonly notes: readonly string[];
}

interface Reading {
  readonly values: Map<ConfigKey, OptionValue>;
  implied: Partial<BatonConfig>;
  readonly notes: string[];
  /** `path:line:column` of an offset. */
  readonly at: (offset: number) => string;
}

/**
 * Reads a YAML (or JSON) configuration: a flat map of option names, or of the names that xPyD-sim
 * and llm-d-inference-sim have for them. Throws a UsageError that begins with `path:line:column`
 * for bad syntax, an unknown or repeated key, and a value of the wrong type or out of range.
 */
export function readConfigFile(path: string, content: string): ConfigFile {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const [syntaxError] = document.errors;
  if (syntaxError) throw new UsageError(`${at(syntaxError.pos[0])}: ${syntaxError.message}`);
  const reading: Reading = { values: new Map(), implied: {}, notes: [], at };
  if (document.contents === null) return reading;
  if (!isMap(document.contents)) {
    throw new UsageError(`${at(0)}: a configuration is a map of option names to values.`);
  }
  for (const pair of document.contents.items) readPair(pair, '', reading);
  return reading;
}

/** @param section name of the section with a dot, or nothing */
function readPair(pair: Pair, section: string, reading: Reading): void {
  const name = isScalar(pair.key) ? String(pair.key.value) : '';
  const key = keyOf(name);
  const isOwn = section === '' && isConfigKey(key);
  if (isOwn && (isScalar(pair.value) || pair.value === null)) {
    return readOption(pair, { key, given: pair.value?.value ?? null }, reading);
  }
  const path = `${section}${name.replaceAll('-', '_')}`;
  if (isForeignSection(path) && isMap(pair.value)) {
    for (const inner of pair.value.items) readPair(inner, `${path}.`, reading);
    return;
  }
  const given: unknown = isNode(pair.value) ? pair.value.toJSON() : pair.value;
  const meaning = foreignMeaning(path, given);
  if (meaning !== undefined) return readForeign(pair, { path, given, meaning }, reading);
  if (isOwn) return readOption(pair, { key, given }, reading);
  throw new UsageError(`${reading.at(offsetOf(pair.key))}: ${unknownName(section + name)}`);
}

interface Foreign {
  readonly path: string;
  readonly given: unknown;
  readonly meaning: ForeignMeaning;
}

function readForeign(pair: Pair, { path, given, meaning }: Foreign, reading: Reading): void {
  switch (meaning.kind) {
    case 'option':
      readOption(pair, { key: meaning.key, given: meaning.value ?? given }, reading);
      reading.implied = { ...meaning.implies, ...reading.implied };
      return;
    case 'granted':
      return;
    case 'left-out':
      reading.notes.push(`${path} has no effect: ${meaning.why}.`);
      return;
    case 'refused':
      throw new UsageError(
        `${reading.at(offsetOf(pair.key))}: ${path} is not supported: ${meaning.why}.`,
      );
  }
}

interface Given {
  readonly key: ConfigKey;
  readonly given: unknown;
}

function readOption(pair: Pair, { key, given }: Given, reading: Reading): void {
  if (reading.values.has(key)) {
    throw new UsageError(`${reading.at(offsetOf(pair.key))}: ${fileName(key)} is given twice.`);
  }
  const read = readTyped(optionOf(key), given);
  if (read.kind === 'problem') {
    const where = reading.at(offsetOf(nodeAt(pair.value, read.path)));
    throw new UsageError(`${where}: ${fileName(key)}${whereIn(read.path)} ${read.complaint}.`);
  }
  reading.values.set(key, read.value);
}

function unknownName(name: string): string {
  const known = [...configKeys().map(fileName), ...foreignNames()];
  const nearest = nearestName(name.replaceAll('-', '_'), known);
  const renamed = renamedTo(name);
  if (renamed !== undefined) return `unknown option '${name}'; ${renamed}`;
  return `unknown option '${name}'${nearest === undefined ? '.' : `; did you mean '${nearest}'?`}`;
}

/** The innermost node on the way along `path`. */
function nodeAt(node: unknown, path: readonly (string | number)[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined || !isCollection(node)) return node;
  const inner = node.get(first, true);
  return inner === undefined ? node : nodeAt(inner, rest);
}

function offsetOf(node: unknown): number {
  if (typeof node !== 'object' || node === null || !('range' in node)) return 0;
  const range: unknown = node.range;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : 0;
}
