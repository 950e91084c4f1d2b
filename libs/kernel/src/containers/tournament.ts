/**
 * Finds the first of many places: the one with the lowest key, then the lowest tie, then the lowest
 * place. A tree of winners over flat arrays: the first place is known at once, moving one costs at
 * most log2(places) comparisons, and it allocates only when it grows.
 */
export class Tournament {
  private keys: Float64Array;
  private ties: Float64Array;
  /** Node i has the children 2i and 2i + 1; the leaves hold the places. */
  private winners: Int32Array;
  private leaves: number;

  /** @param places  numbers from 0; it grows when a higher one is set */
  constructor(places = 2) {
    this.leaves = 2 ** Math.ceil(Math.log2(Math.max(2, places)));
    this.keys = new Float64Array(this.leaves).fill(Infinity);
    this.ties = new Float64Array(this.leaves);
    this.winners = playedOff(this.leaves);
  }

  /** The first place; any place when none has a key. */
  get first(): number {
    return this.winners[1]!;
  }

  /** The key of the first place; Infinity when no place has a key. */
  get firstKey(): number {
    return this.keys[this.winners[1]!]!;
  }

  /** Infinity for a place without a key. */
  keyOf(place: number): number {
    return this.keys[place]!;
  }

  /** @param key not NaN; Infinity removes the key */
  set(place: number, key: number, tie = 0): void {
    while (place >= this.leaves) this.grow();
    const { keys, ties, winners } = this;
    if (keys[place] === key && ties[place] === tie) return;
    keys[place] = key;
    ties[place] = tie;
    for (let node = (this.leaves + place) >> 1; node >= 1; node >>= 1) {
      const left = winners[2 * node]!;
      const right = winners[2 * node + 1]!;
      const leftKey = keys[left]!;
      const rightKey = keys[right]!;
      const isRight = rightKey < leftKey || (rightKey === leftKey && ties[right]! < ties[left]!);
      const winner = isRight ? right : left;
      // Neither the old nor the new winner of this node: nothing above it has changed.
      if (winner !== place && winners[node] === winner) return;
      winners[node] = winner;
    }
  }

  private grow(): void {
    const { keys, ties } = this;
    this.leaves *= 2;
    this.keys = new Float64Array(this.leaves).fill(Infinity);
    this.ties = new Float64Array(this.leaves);
    this.winners = playedOff(this.leaves);
    for (let place = 0; place < keys.length; place++) this.set(place, keys[place]!, ties[place]);
  }
}

/** The winners when all are equal. */
function playedOff(leaves: number): Int32Array {
  const winners = new Int32Array(2 * leaves);
  for (let leaf = 0; leaf < leaves; leaf++) winners[leaves + leaf] = leaf;
  for (let node = leaves - 1; node >= 1; node--) winners[node] = winners[2 * node]!;
  return winners;
}
