// The GGUF container, version 3 (ggml's docs/gguf.md): magic, counts, metadata, tensor directory,
// then the tensors at aligned offsets.
import { Buffer } from 'node:buffer';

const ALIGNMENT = 32;
const TYPE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 };
/** Numbers of ggml's tensor types, and bytes of an element. */
export const TENSOR_TYPES = { f32: { id: 0, bytes: 4 }, f16: { id: 1, bytes: 2 } };

/** Metadata values by their type. Arrays name the type of their elements. */
export const value = {
  uint32: (number) => ({ type: 'uint32', number }),
  float32: (number) => ({ type: 'float32', number }),
  bool: (is) => ({ type: 'bool', is }),
  string: (text) => ({ type: 'string', text }),
  array: (of, items) => ({ type: 'array', of, items }),
};

/**
 * Everything before the tensors, and where each of them begins behind it.
 *
 * @param metadata  pairs of key and `value`
 * @param tensors   `{ name, type, shape }`, the fastest dimension first
 */
export function layoutOf({ metadata, tensors }) {
  let offset = 0;
  const placed = tensors.map((tensor) => {
    const elements = tensor.shape.reduce((product, size) => product * size, 1);
    const bytes = elements * TENSOR_TYPES[tensor.type].bytes;
    const at = { ...tensor, elements, bytes, offset };
    offset = aligned(offset + bytes);
    return at;
  });
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(3),
    uint64(tensors.length),
    uint64(metadata.length),
    ...metadata.flatMap(([key, item]) => [string(key), uint32(TYPE[item.type]), payload(item)]),
    ...placed.flatMap(directoryEntry),
  ]);
  const header = Buffer.alloc(aligned(head.length));
  head.copy(header);
  return { header, tensors: placed, totalBytes: header.length + offset };
}

/** Bytes of padding behind something that ends at `end`. */
export function paddingAfter(end) {
  return aligned(end) - end;
}

function directoryEntry({ name, shape, type, offset }) {
  return [
    string(name),
    uint32(shape.length),
    ...shape.map(uint64),
    uint32(TENSOR_TYPES[type].id),
    uint64(offset),
  ];
}

function payload(item) {
  switch (item.type) {
    case 'uint32':
      return uint32(item.number);
    case 'float32':
      return float32(item.number);
    case 'bool':
      return Buffer.from([item.is ? 1 : 0]);
    case 'string':
      return string(item.text);
    default:
      return Buffer.concat([
        uint32(TYPE[item.of]),
        uint64(item.items.length),
        ...item.items.map(elementWriter(item.of)),
      ]);
  }
}

function elementWriter(type) {
  if (type === 'string') return string;
  return type === 'float32' ? float32 : int32;
}

function aligned(bytes) {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

function string(text) {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint64(number) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
}

function uint32(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

function int32(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(number);
  return bytes;
}

function float32(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(number);
  return bytes;
}
