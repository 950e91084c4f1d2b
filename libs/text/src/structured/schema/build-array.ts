import { spendWork } from '@baton/kernel';
import { type Json, jsonKey } from '../json';

import type { SchemaNode } from './schema-node';
import { type Built, NONE, pointerOf, type Search, type Wish } from './search';

/** Limit of items of an array; no output has room for more. */
const MAX_ITEMS = 10_000;

/**
 * Builds an array whose items fulfil the schemas of their places, including those that `contains`
 * requires.
 */
export function buildArray(builder: Search, wish: Wish): Built {
  return new ArrayBuilder(builder, wish).build();
}

class ArrayBuilder {
  private readonly nodes: readonly SchemaNode[];
  private readonly min: number;
  private readonly max: number;
  /** Items with a prefix schema of their own. */
  private readonly prefix: number;
  private readonly isUnique: boolean;
  /** Schemas of items with a maximum count. */
  private readonly limited: readonly SchemaNode[];
  private readonly demanded = new Map<number, SchemaNode[]>();
  private readonly items: Json[] = [];
  private readonly taken = new Set<string>();

  constructor(
    private readonly builder: Search,
    private readonly wish: Wish,
  ) {
    const { nodes } = wish;
    this.nodes = nodes;
    const keywords = nodes.map((node) => node.array);
    this.min = Math.max(...keywords.map((array) => array.minItems));
    this.max = Math.min(
      ...keywords.map((array) => array.maxItems),
      ...nodes.map((node) => placesOf(node, nodes)),
    );
    this.prefix = Math.max(...keywords.map((array) => array.prefix.length));
    this.isUnique = keywords.some((array) => array.isUnique);
    this.limited = keywords.flatMap(({ contains, maxContains }) =>
      contains !== undefined && maxContains < Infinity ? contains : [],
    );
  }

  build(): Built {
    if (this.min > MAX_ITEMS) return this.builder.fail(pointerOf(this.nodes), 'too many items');
    for (const { contains, minContains } of this.nodes.map((node) => node.array)) {
      for (let i = 0; contains !== undefined && i < minContains; i++) {
        if (!this.place(contains)) return NONE;
      }
    }
    const last = Math.max(-1, ...this.demanded.keys());
    const needed = Math.max(this.min, last + 1);
    if (needed > this.max) {
      return this.builder.fail(pointerOf(this.nodes), 'the keywords allow no number of items');
    }
    const count = this.count(needed);
    for (let i = 0; i < count; i++) {
      if (this.demanded.has(i)) continue;
      const item = this.otherItem(i);
      if (item !== NONE) this.take(i, item);
      else if (i >= needed) break;
      else return NONE;
    }
    return this.items;
  }

  /**
   * Places a required item after the prefix, else in the prefix, else merges it with another
   * required item.
   */
  private place(demand: SchemaNode): boolean {
    const before = this.builder.failure;
    for (const index of this.candidates()) {
      const extra = [...(this.demanded.get(index) ?? []), demand];
      const item = this.builder.build(this.itemWish(index, extra));
      if (item === NONE) continue;
      this.builder.failure = before;
      this.demanded.set(index, extra);
      this.take(index, item);
      return true;
    }
    this.builder.fail(demand.pointer, 'no place allows an item of this kind');
    return false;
  }

  private candidates(): number[] {
    spendWork(this.prefix + this.demanded.size);
    let next = this.prefix;
    while (this.demanded.has(next)) next += 1;
    const inPrefix = Array.from({ length: this.prefix }, (_, i) => this.prefix - 1 - i);
    const free = [next, ...inPrefix].filter((i) => i < this.max && !this.demanded.has(i));
    return [...free, ...this.demanded.keys()];
  }

  /** An item that no maximum count restricts, if there is one. */
  private otherItem(index: number): Built {
    const wish = this.itemWish(index, []);
    if (this.limited.length === 0) return this.builder.build(wish);
    const before = this.builder.failure;
    const other = this.builder.build({ ...wish, nots: this.limited });
    if (other !== NONE) return other;
    this.builder.failure = before;
    return this.builder.build(wish);
  }

  private itemWish(index: number, extra: readonly SchemaNode[]): Wish {
    return {
      nodes: [...this.itemNodes(index), ...extra],
      depth: this.wish.depth + 1,
      ...(this.isUnique ? { avoid: this.taken } : {}),
    };
  }

  private itemNodes(index: number): SchemaNode[] {
    return this.nodes.flatMap(
      ({ array }) => array.prefix[index] ?? array.rest ?? array.unevaluated ?? [],
    );
  }

  private take(index: number, item: Json): void {
    this.items[index] = item;
    if (this.isUnique) this.taken.add(jsonKey(item));
  }

  private count(needed: number): number {
    const ease = this.builder.easeAt(this.wish.depth);
    const next = this.itemNodes(Math.max(needed, this.prefix));
    if (ease === 0 || this.builder.tools.costs.ofAll(next) === Infinity) return needed;
    const usual = Math.max(needed, this.prefix, 1);
    return Math.min(this.max, usual + this.builder.tools.random.integer(ease + 1));
  }
}

/** Places that a schema leaves open: all, or those of its prefix. */
function placesOf({ array }: SchemaNode, nodes: readonly SchemaNode[]): number {
  if (array.rest?.isPossible === false) return array.prefix.length;
  if (array.unevaluated?.isPossible !== false) return Infinity;
  const isOpen = nodes.some((node) => node.array.rest !== undefined);
  return isOpen ? Infinity : Math.max(...nodes.map((node) => node.array.prefix.length));
}
