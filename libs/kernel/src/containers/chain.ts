/** An element of a chain; it is in at most one. */
export interface ChainLink<L extends ChainLink<L>> {
  chain: Chain<L> | undefined;
  previous: L | undefined;
  next: L | undefined;
}

/** Links in the order in which they were appended. Every operation takes constant time. */
export class Chain<L extends ChainLink<L>> {
  first: L | undefined;
  last: L | undefined;

  /** Appends a link, and removes it from its former chain. */
  append(link: L): void {
    link.chain?.remove(link);
    link.chain = this;
    link.previous = this.last;
    if (this.last === undefined) this.first = link;
    else this.last.next = link;
    this.last = link;
  }

  /** Removes a link; ignores one of another chain. */
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
