import type { RandomStream } from '@baton/kernel';
import type { Json } from '../json';
import type { StringBuilder } from './build-string';
import type { SchemaCosts } from './costs';
import type { Validator } from './satisfies';
import type { SchemaNode } from './schema-node';
import type { WorkBudget } from './work-budget';

/** What all values of one search share. */
export interface BuilderTools {
  readonly random: RandomStream;
  readonly costs: SchemaCosts;
  readonly validator: Validator;
  readonly strings: StringBuilder;
  readonly budget: WorkBudget;
  /** 0: only what is required, each choice the cheapest. Above: more of everything. */
  readonly ease: number;
  /** No properties are invented. */
  readonly isClosed: boolean;
}

/** A value that is asked for. */
export interface Wish {
  readonly nodes: readonly SchemaNode[];
  readonly nots?: readonly SchemaNode[];
  /** Steps below the root. */
  readonly depth: number;
  /** Keys (`jsonKey`) that are taken already. */
  readonly avoid?: ReadonlySet<string>;
}

/** Where and why no value was found. */
export interface SearchFailure {
  readonly pointer: string;
  readonly reason: string;
}

/** A value, or `NONE`: null is a value. */
export const NONE = Symbol('no value');
export type Built = Json | typeof NONE;

/** The search for one value, as the builders of arrays and objects see it. */
export interface Search {
  readonly tools: BuilderTools;
  /** Of the innermost value that could not be found. */
  failure: SearchFailure | undefined;
  build(wish: Wish): Built;
  /** Notes the failure, unless one further inside is known. */
  fail(pointer: string, reason: string): typeof NONE;
  /** How much is added to what is required at a depth: values get leaner towards the leaves. */
  easeAt(depth: number): number;
}

export function pointerOf(nodes: readonly SchemaNode[]): string {
  return nodes[0]?.pointer ?? '';
}
