'use strict';

/** A number that is to be a float, whatever its value. */
class Float {
  constructor(value) {
    this.value = value;
  }
}

/**
 * MessagePack of null, booleans, integers from 0 to 2^53, `Float`, strings, arrays and plain
 * objects: all that events are made of.
 */
function pack(value) {
  const parts = [];
  write(value, parts);
  return Buffer.concat(parts);
}

function write(value, parts) {
  if (value === null) parts.push(Buffer.of(0xc0));
  else if (typeof value === 'boolean') parts.push(Buffer.of(value ? 0xc3 : 0xc2));
  else if (typeof value === 'number') parts.push(integer(value));
  else if (typeof value === 'string') writeText(value, parts);
  else if (value instanceof Float) parts.push(float(value.value));
  else if (Array.isArray(value)) {
    parts.push(head(value.length, [0x90, 15, 0xdc]));
    for (const each of value) write(each, parts);
  } else writeObject(value, parts);
}

function writeObject(value, parts) {
  const entries = Object.entries(value);
  parts.push(head(entries.length, [0x80, 15, 0xde]));
  for (const [key, each] of entries) {
    write(key, parts);
    write(each, parts);
  }
}

function writeText(text, parts) {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  if (length < 32) parts.push(Buffer.of(0xa0 | length));
  else if (length < 256) parts.push(Buffer.of(0xd9, length));
  else parts.push(sized(0xda, 2, length));
  parts.push(bytes);
}

/** Of an array or map: within the first byte, in two bytes or in four. */
function head(length, [short, most, long]) {
  if (length <= most) return Buffer.of(short | length);
  return length < 2 ** 16 ? sized(long, 2, length) : sized(long + 1, 4, length);
}

function integer(value) {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`no event has ${value}`);
  if (value < 128) return Buffer.of(value);
  if (value < 2 ** 8) return sized(0xcc, 1, value);
  if (value < 2 ** 16) return sized(0xcd, 2, value);
  if (value < 2 ** 32) return sized(0xce, 4, value);
  const bytes = Buffer.alloc(9, 0xcf);
  bytes.writeBigUInt64BE(BigInt(value), 1);
  return bytes;
}

function sized(tag, size, value) {
  const bytes = Buffer.alloc(1 + size, tag);
  bytes.writeUIntBE(value, 1, size);
  return bytes;
}

function float(value) {
  const bytes = Buffer.alloc(9, 0xcb);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

module.exports = { Float, pack };
