/** A key that expires unless this process renews it: the lock of a held job, or a presence. */
export interface Lease {
  readonly key: string;
  /** Value of the key while this process holds it. Empty: any value counts as held. */
  readonly value: string;
  readonly ttlMs: number;
}

/**
 * Bytes of one lease: four numbers, then its key and its value. The key and value of a queue need
 * some 300 bytes.
 */
const SLOT_BYTES = 512;
const TEXT_AT = 16;
const TEXT_BYTES = SLOT_BYTES - TEXT_AT;
/** The numbers of a slot. */
const [MARK, TTL, KEY_BYTES, VALUE_BYTES] = [0, 1, 2, 3];
const CELLS = SLOT_BYTES / Int32Array.BYTES_PER_ELEMENT;
/** A table of 5 MiB; only the slots in use take memory. */
const SLOTS = 10_240;
/** The longest character in UTF-8: a text that is cut off leaves less than this. */
const LONGEST_CHARACTER = 4;

/**
 * The leases of a process in memory that it shares with its standby thread. The process writes each
 * lease when it begins and marks it free when it ends, which costs far less than messages; the
 * thread reads them when the process is late. A lease that finds no slot or does not fit into one
 * is renewed by the process alone.
 */
export class LeaseTable {
  private readonly slotOf = new Map<string, number>();
  private readonly free: number[] = [];
  private readonly cells: Int32Array;
  private readonly bytes: Buffer;
  private marks = 0;

  /** @param memory  the other thread's memory; absent for the thread that writes */
  constructor(readonly memory = new SharedArrayBuffer(SLOTS * SLOT_BYTES)) {
    this.cells = new Int32Array(memory);
    this.bytes = Buffer.from(memory);
  }

  /** A key has one lease: while it lasts, another with the same key changes nothing. */
  keep(lease: Lease): void {
    if (this.slotOf.has(lease.key)) return;
    const slot = this.free.pop() ?? this.slotOf.size;
    if (slot >= SLOTS) return;
    if (this.write(slot, lease)) this.slotOf.set(lease.key, slot);
    else this.free.push(slot);
  }

  drop(key: string): void {
    const slot = this.slotOf.get(key);
    if (slot === undefined) return;
    Atomics.store(this.cells, slot * CELLS + MARK, 0);
    this.slotOf.delete(key);
    this.free.push(slot);
  }

  /** The present leases, for the other thread. A lease that changes during the read is left out. */
  read(): Lease[] {
    const leases: Lease[] = [];
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const at = slot * CELLS + MARK;
      const mark = Atomics.load(this.cells, at);
      if (mark === 0) continue;
      const lease = this.leaseAt(slot);
      if (Atomics.load(this.cells, at) === mark) leases.push(lease);
    }
    return leases;
  }

  /** @returns false when it does not fit */
  private write(slot: number, { key, value, ttlMs }: Lease): boolean {
    const [at, from] = [slot * CELLS, slot * SLOT_BYTES + TEXT_AT];
    const keyBytes = this.bytes.write(key, from, TEXT_BYTES);
    const valueBytes = this.bytes.write(value, from + keyBytes, TEXT_BYTES - keyBytes);
    if (keyBytes + valueBytes > TEXT_BYTES - LONGEST_CHARACTER) return false;
    this.cells[at + TTL] = ttlMs;
    this.cells[at + KEY_BYTES] = keyBytes;
    this.cells[at + VALUE_BYTES] = valueBytes;
    // Another number than before, so that a reader notices the change; 0 is a free slot.
    this.marks = (this.marks + 1) | 0 || 1;
    Atomics.store(this.cells, at + MARK, this.marks);
    return true;
  }

  private leaseAt(slot: number): Lease {
    const [at, from] = [slot * CELLS, slot * SLOT_BYTES + TEXT_AT];
    const keyEnd = from + this.cells[at + KEY_BYTES]!;
    return {
      key: this.bytes.toString('utf8', from, keyEnd),
      value: this.bytes.toString('utf8', keyEnd, keyEnd + this.cells[at + VALUE_BYTES]!),
      ttlMs: this.cells[at + TTL]!,
    };
  }
}
