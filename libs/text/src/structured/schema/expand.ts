import { spendWork } from '@baton/kernel';
import { presenceNode, type SchemaNode } from './schema-node';

/** One way to fulfil a choice: the schemas that then hold and those that must not hold. */
export interface Alternative {
  readonly nodes: readonly SchemaNode[];
  readonly nots: readonly SchemaNode[];
}

/** Alternatives; one must be taken. */
export interface Choice {
  readonly pointer: string;
  readonly options: readonly Alternative[];
}

/** Schemas that all apply to one value, with everything that applies without a choice. */
export interface Expansion {
  readonly nodes: readonly SchemaNode[];
  readonly nots: readonly SchemaNode[];
  readonly choices: readonly Choice[];
}

/** Follows references and `allOf`. Choices in `taken`, by their schema, are not offered again. */
export function expand(
  nodes: readonly SchemaNode[],
  nots: readonly SchemaNode[],
  taken: ReadonlySet<string>,
): Expansion {
  const all = new Set<SchemaNode>();
  const allNots = new Set(nots);
  const choices: Choice[] = [];
  const open = [...nodes].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (all.has(node)) continue;
    all.add(node);
    const { ref, allOf, not, oneOf } = node.logic;
    spendWork(allOf.length + oneOf.length);
    if (ref !== undefined) open.push(ref);
    open.push(...allOf);
    if (not !== undefined) allNots.add(not);
    choices.push(...choicesOf(node).filter(({ pointer }) => !taken.has(pointer)));
  }
  return { nodes: [...all], nots: [...allNots], choices };
}

function choicesOf(node: SchemaNode): Choice[] {
  const { pointer } = node;
  const { anyOf, oneOf, when } = node.logic;
  const choices: Choice[] = [];
  if (anyOf.length > 0) {
    const options = anyOf.map((one) => ({ nodes: [one], nots: [] }));
    choices.push({ pointer: `${pointer}/anyOf`, options });
  }
  if (oneOf.length > 0) {
    const options = oneOf.map((_one, i) => new OneOf(oneOf, i));
    choices.push({ pointer: `${pointer}/oneOf`, options });
  }
  if (when !== undefined) {
    const { condition, then, otherwise } = when;
    const holds = { nodes: listOf(condition, then), nots: [] };
    const fails = { nodes: listOf(otherwise), nots: [condition] };
    choices.push({ pointer: `${pointer}/if`, options: [holds, fails] });
  }
  for (const [name, schema] of node.object.dependentSchemas) {
    const place = `${pointer}/dependentSchemas/${name}`;
    const present = [schema, presenceNode(place, { present: [name] })];
    const absent = [presenceNode(place, { absent: [name] })];
    const options = [absent, present].map((one) => ({ nodes: one, nots: [] }));
    choices.push({ pointer: place, options });
  }
  return choices;
}

/**
 * One of several alternatives and none of the others. The others are listed only when this one is
 * tried.
 */
class OneOf implements Alternative {
  readonly nodes: readonly SchemaNode[];

  constructor(
    private readonly all: readonly SchemaNode[],
    private readonly index: number,
  ) {
    this.nodes = all.slice(index, index + 1);
  }

  get nots(): readonly SchemaNode[] {
    return this.all.filter((_other, i) => i !== this.index);
  }
}

function listOf(...nodes: readonly (SchemaNode | undefined)[]): SchemaNode[] {
  return nodes.filter((node) => node !== undefined);
}
