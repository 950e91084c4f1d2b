import { assert, HashedIndex } from '@baton/kernel';
import type { BlockTable } from './block-table';

/**
 * Contents per page, a power of two: as many as prompts commonly share, so that most lie in one or
 * two.
 */
const PAGE_BITS = 8;
const PAGE = 1 << PAGE_BITS;

/**
 * The table for hashes that are the integers 1..contentCount. Only the place of a content's page is
 * looked up, and the blocks of a prompt, whose contents are numbered consecutively, have
 * consecutive ids. Pages exist only for present contents and are freed with the last of them, so
 * memory depends on the content of the pool and hardly on the number of contents. Ids of private
 * blocks come after those; a block that becomes findable gets a new one.
 */
export class DenseTable implements BlockTable {
  readonly lastId: number;
  size = 0;
  /** Number of the page of each content; 0 for none, because page 0 holds nothing. */
  private readonly pages: Int32Array;
  /**
   * By page: its first content, the number of its contents that are present, and the number of its
   * uses.
   */
  private readonly firsts: Int32Array;
  private readonly counts: Int32Array;
  private readonly givings: Int32Array;
  /** 1 for each present id. */
  private readonly present: Uint8Array;
  /** Private hashes of owners: negative, found under private ids. */
  private own: HashedIndex | undefined;
  private readonly emptyPages: number[] = [];
  private pagesGiven = 0;
  private readonly firstPrivateId: number;
  private readonly generations = new Map<number, number>();
  private readonly vacant: number[] = [];

  constructor(
    numBlocks: number,
    private readonly contentCount: number,
  ) {
    const pagesOfContents = (contentCount >> PAGE_BITS) + 1;
    const mostPages = Math.min(pagesOfContents, numBlocks);
    this.pages = new Int32Array(pagesOfContents);
    this.firsts = new Int32Array(mostPages + 1);
    this.counts = new Int32Array(mostPages + 1);
    this.givings = new Int32Array(mostPages + 1);
    this.firstPrivateId = (mostPages + 1) << PAGE_BITS;
    this.present = new Uint8Array(this.firstPrivateId);
    this.lastId = this.firstPrivateId + numBlocks - 1;
  }

  find(content: number): number {
    if (content < 0) return this.findOwn(content);
    const page = this.pages[content >> PAGE_BITS]!;
    const id = (page << PAGE_BITS) | (content & (PAGE - 1));
    return this.present[id] === 1 ? id : -1;
  }

  hashOf(id: number): number {
    if (id >= this.firstPrivateId) return this.own?.hashOf(id - this.firstPrivateId) ?? 0;
    return this.present[id] === 1 ? this.firsts[id >> PAGE_BITS]! + (id & (PAGE - 1)) : 0;
  }

  enter(content: number, privateId: number): number {
    if (content < 0) return this.enterOwn(content, privateId);
    assert(content <= this.contentCount, 'a content is beyond the number announced');
    let page = this.pages[content >> PAGE_BITS]!;
    if (page === 0) page = this.givePage(content);
    const id = (page << PAGE_BITS) | (content & (PAGE - 1));
    if (this.present[id] === 1) return -1;
    if (privateId > 0) this.vacatePrivate(privateId);
    this.present[id] = 1;
    this.counts[page]!++;
    this.size++;
    return id;
  }

  isAt(content: number, id: number): boolean {
    if (content < 0) return this.hashOf(id) === content;
    return this.firsts[id >> PAGE_BITS]! + (id & (PAGE - 1)) === content;
  }

  remove(first: number, count: number): void {
    const end = first + count;
    this.size -= count;
    if (first >= this.firstPrivateId) {
      for (let id = first; id < end; id++) this.removeOwn(id);
      return;
    }
    for (let from = first; from < end;) {
      const page = from >> PAGE_BITS;
      const to = Math.min(end, (page + 1) << PAGE_BITS);
      for (let id = from; id < to; id++) this.present[id] = 0;
      this.counts[page]! -= to - from;
      if (this.counts[page] === 0) this.takePage(page);
      from = to;
    }
  }

  drawPrivate(): number {
    const id = this.vacant.pop() ?? this.firstPrivateId + this.generations.size;
    this.generations.set(id, this.generationOf(id) + 1);
    return id;
  }

  vacatePrivate(id: number): void {
    this.vacant.push(id);
  }

  generationOf(id: number): number {
    return id < this.firstPrivateId
      ? this.givings[id >> PAGE_BITS]!
      : (this.generations.get(id) ?? 0);
  }

  private findOwn(content: number): number {
    const number = this.own?.find(content) ?? -1;
    return number < 0 ? -1 : number + this.firstPrivateId;
  }

  private enterOwn(content: number, privateId: number): number {
    const { firstPrivateId } = this;
    this.own ??= new HashedIndex(this.lastId + 1 - firstPrivateId);
    if (this.own.find(content) >= 0) return -1;
    const id = privateId > 0 ? privateId : this.drawPrivate();
    this.own.add(content, id - firstPrivateId);
    this.size++;
    return id;
  }

  private removeOwn(id: number): void {
    this.own!.remove(id - this.firstPrivateId);
    this.vacatePrivate(id);
  }

  private givePage(content: number): number {
    const page = this.emptyPages.pop() ?? ++this.pagesGiven;
    this.pages[content >> PAGE_BITS] = page;
    this.firsts[page] = content & ~(PAGE - 1);
    this.givings[page]!++;
    return page;
  }

  private takePage(page: number): void {
    this.pages[this.firsts[page]! >> PAGE_BITS] = 0;
    this.emptyPages.push(page);
  }
}
