import { UsageError } from '@baton/config';
import { nearestName } from '@baton/kernel';
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';

/** Reads one document. Throws a `UsageError` that begins with `path:line:column`. */
export function readYaml(path: string, content: string): YamlValue {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const [fault] = document.errors;
  if (fault) throw new UsageError(`${at(fault.pos[0])}: ${fault.message}`);
  visit(document, {
    Alias: (_key, { range }) => {
      const place = at(range?.[0] ?? 0);
      throw new UsageError(`${place}: an alias cannot be used here; write its value.`);
    },
  });
  return new YamlValue(document.contents, 'the file', at);
}

/** A value of a YAML document with its position for error messages. */
export class YamlValue {
  constructor(
    private readonly node: Node | null,
    /** Name of the object in errors. */
    private readonly name: string,
    private readonly at: (offset: number) => string,
  ) {}

  get isText(): boolean {
    return isScalar(this.node) && typeof this.node.value === 'string';
  }

  get isList(): boolean {
    return isSeq(this.node);
  }

  /** Strings, numbers and booleans unchanged; everything else as JSON values. */
  get plain(): unknown {
    return this.node?.toJSON() as unknown;
  }

  error(complaint: string): UsageError {
    return new UsageError(`${this.at(this.node?.range?.[0] ?? 0)}: ${complaint}`);
  }

  text(): string {
    const value = this.scalar();
    if (typeof value === 'string') return value;
    throw this.error(`${this.name} must be a text.`);
  }

  flag(): boolean {
    const value = this.scalar();
    if (typeof value === 'boolean') return value;
    throw this.error(`${this.name} must be true or false.`);
  }

  number(min: number, max: number): number {
    const value = this.scalar();
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw this.error(`${this.name} must be a number from ${min} to ${max}.`);
  }

  scalar(): unknown {
    return isScalar(this.node) ? this.node.value : undefined;
  }

  /** The members of a list. */
  list(): YamlValue[] {
    if (!isSeq(this.node)) throw this.error(`${this.name} must be a list.`);
    return this.node.items.map((item, i) => this.inner(item, `${this.name}[${i}]`));
  }

  /** One text, or a list of texts. */
  texts(): string[] {
    return this.isList ? this.list().map((one) => one.text()) : [this.text()];
  }

  /** The values of a map by their keys, in order. */
  entries(): [string, YamlValue][] {
    if (!isMap(this.node)) throw this.error(`${this.name} must be a map.`);
    return this.node.items.map(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : '';
      return [name, this.inner(value, name)];
    });
  }

  /** The values of a map with only these keys. */
  fields<Key extends string>(keys: readonly Key[]): Partial<Record<Key, YamlValue>> {
    if (!isMap(this.node)) throw this.error(`${this.name} must be a map.`);
    for (const { key } of this.node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (keys.includes(name as Key)) continue;
      const nearest = nearestName(name, keys);
      const hint = nearest === undefined ? '.' : `; did you mean '${nearest}'?`;
      throw this.inner(key, name).error(`unknown key '${name}' in ${this.name}${hint}`);
    }
    return Object.fromEntries(this.entries()) as Partial<Record<Key, YamlValue>>;
  }

  private inner(node: unknown, name: string): YamlValue {
    const isEmpty = !isNode(node);
    return new YamlValue(isEmpty ? this.node : node, isEmpty ? `${name} (empty)` : name, this.at);
  }
}
