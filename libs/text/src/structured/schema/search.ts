import type { RandomStream } from '@baton/kernel';
import type { Json } from '../json';
import type { StringBuilder } from './build-string';
import type { SchemaCosts } from './costs';
import type { Validator } from './satisfies';
import type { SchemaNode } from './schema-node';
import type { WorkBudget } from './work-budget';

/** Shared by all values of one search. */
export interface BuilderTools {
  readonly random: RandomStream;
  readonly costs: SchemaCosts;
  readonly validator: Validator;
  readonly strings: StringBuilder;
  readonly budget: WorkBudget;
  /** 0: only the required parts, with the cheapest alternatives. Above: more of everything. */
  readonly ease: number;
  /** Whether no properties are invented. */
  readonly isClosed: boolean;
}

/** A value to be built. */
export interface Wish {
  readonly nodes: readonly SchemaNode[];
  readonly nots?: readonly SchemaNode[];
  /** Steps below the root. */
  readonly depth: number;
  /** Keys (`jsonKey`) of values that are already in use. */
  readonly avoid?: ReadonlySet<string>;
}

/** The place and the reason of a failed search. */
export interface SearchFailure {
  readonly pointer: string;
  readonly reason: string;
}

/** The absence of a value; null is a value. */
export const NONE = Symbol('no value');
export type Built = Json | typeof NONE;

/** The search for one value, as the builders of arrays and objects use it. */
export interface Search {
  readonly tools: BuilderTools;
  /** The failure of the innermost value. */
  failure: SearchFailure | undefined;
  build(wish: Wish): Built;
  /** Records the failure, except when a deeper one is already recorded. */
  fail(pointer: string, reason: string): typeof NONE;
  /** The ease at a depth. It falls towards the leaves. */
  easeAt(depth: number): number;
}

export function pointerOf(nodes: readonly SchemaNode[]): string {
  return nodes[0]?.pointer ?? '';
}
