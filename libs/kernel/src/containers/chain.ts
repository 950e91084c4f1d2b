/** What may stand in a chain, and in at most one. */
export interface ChainLink<L extends ChainLink<L>> {
  chain: Chain<L> | undefined;
  previous: L | undefined;
  next: L | undefined;
}

/** Links in the order in which they were appended. Every operation takes constant time. */
export class Chain<L extends ChainLink<L>> {
  first: L | undefined;
  last: L | undefined;

  /** Appends a link, which leaves the chain it stood in. */
  append(link: L): void {
    link.chain?.remove(link);
    link.chain = this;
    link.previous = this.last;
    if (this.last === undefined) this.first = link;
    else this.last.next = link;
    this.last = link;
  }

  /** Takes a link out; one that does not stand here is left alone. */
  remove(link: L): void {
    if (link.chain !== this) return;
    if (link.previous === undefined) this.first = link.next;
    else link.previous.next = link.next;
    if (link.next === undefined) this.last = link.previous;
    else link.next.previous = link.previous;
    link.chain = undefined;
    link.previous = undefined;
    link.next = undefined;
  }
}
