import { assert } from '@baton/kernel';
import { type Marker, MARKERS } from './markers';
import type { SpecialTokens } from './tokenizer';

/** The special tokens of a vocabulary and, above them, one id for each marker of other models. */
export class SpecialTokenTable implements SpecialTokens {
  readonly endOfText: number;
  readonly ownNames: readonly string[];
  private readonly idsByName = new Map<string, number>();
  private readonly names = new Map<number, string>();

  /**
   * @param own name by id
   * @param above first free id
   * @param ends tokens that may end a text, the preferred first
   */
  constructor(own: ReadonlyMap<number, string>, above: number, ends: readonly string[]) {
    this.ownNames = [...own.values()];
    for (const [id, name] of own) this.add(name, id);
    MARKERS.forEach((marker, i) => {
      if (!this.idsByName.has(marker)) this.add(marker, above + i);
    });
    const end = ends.find((name) => [...own.values()].includes(name)) ?? '<|endoftext|>';
    this.endOfText = this.idOf(end as Marker);
  }

  idOf(marker: Marker): number {
    const id = this.idsByName.get(marker);
    assert(id !== undefined, `${marker} is a marker`);
    return id;
  }

  has(id: number): boolean {
    return this.names.has(id);
  }

  nameOf(id: number): string | undefined {
    return this.names.get(id);
  }

  private add(name: string, id: number): void {
    this.idsByName.set(name, id);
    this.names.set(id, name);
  }
}
