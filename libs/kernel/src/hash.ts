/**
 * Stateless hashes over 53-bit integers, the largest that a JavaScript number holds exactly. They
 * replace random draws wherever a value must depend only on its key (a request, a token index) and
 * not on the number of earlier draws. Not cryptographic.
 */
const TWO_32 = 2 ** 32;
const TWO_53 = 2 ** 53;
const HIGH_MASK = 0x1f_ffff;
const GOLDEN = 0x9e37_79b9;

/**
 * The finaliser of MurmurHash3 (public domain): a bijection of 32 bits in which each input bit
 * reaches every output bit.
 */
function scramble32(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return x ^ (x >>> 16);
}

function join53(low: number, high: number): number {
  return (high & HIGH_MASK) * TWO_32 + (low >>> 0);
}

/**
 * Mixes two integers of [0, 2^53) into one of the same range; the order matters. Four Feistel
 * rounds over the halves of `a`, keyed by the halves of `b`: for a fixed `b` nothing is lost before
 * the cut from 64 to 53 bits.
 */
export function mix(a: number, b: number): number {
  const keyLow = b | 0;
  const keyHigh = (b / TWO_32) | 0;
  let low = a | 0;
  let high = (a / TWO_32) | 0;
  high ^= scramble32((low ^ keyLow) + GOLDEN);
  low ^= scramble32((high ^ keyHigh) + 0x7f4a_7c15);
  high ^= scramble32((low + keyLow) ^ 0x2545_f491);
  low ^= scramble32((high + keyHigh) ^ 0x4f6c_dd1d);
  return join53(low, high);
}

/** Hash of a string's UTF-16 code units, in [0, 2^53). */
export function hashString(text: string): number {
  let low = GOLDEN;
  let high = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x0100_0193);
    high = Math.imul(high ^ unit ^ (low >>> 15), 0x5bd1_e995);
  }
  return mix(join53(low, high), text.length);
}

/** Spreads a hash over [0, 1). */
export function unitOf(hash: number): number {
  return hash / TWO_53;
}

/**
 * Hashes of the full blocks of a token sequence. Each covers its block and all blocks before it, so
 * equal hashes mean equal prefixes (vLLM's prefix cache does the same with SHA-256). The tail that
 * fills no block has none.
 *
 * @param salt separates sequences that must not share (another model, a cache salt), an integer in
 * [0, 2^53)
 * @returns integers in [1, 2^53): 0 is free for callers to mean "none"
 */
export function chainBlockHashes(
  tokens: ArrayLike<number>,
  blockSize: number,
  salt: number,
): number[] {
  const blocks = Math.floor(tokens.length / blockSize);
  const hashes = new Array<number>(blocks);
  let parent = mix(salt, blockSize);
  for (let block = 0; block < blocks; block++) {
    parent = mix(parent, hashTokens(tokens, block * blockSize, blockSize)) || 1;
    hashes[block] = parent;
  }
  return hashes;
}

function hashTokens(tokens: ArrayLike<number>, from: number, count: number): number {
  let low = GOLDEN;
  let high = count;
  for (let i = from; i < from + count; i++) {
    const token = tokens[i] ?? 0;
    low = Math.imul(low ^ token, 0xcc9e_2d51);
    low ^= low >>> 15;
    high = Math.imul(((high << 13) | (high >>> 19)) ^ token, 0x1b87_3593) + low;
  }
  return join53(low, high);
}
