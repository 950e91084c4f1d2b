import { describe, expect, it } from 'vitest';
import { TransferSetup } from './transfer-setup';

const SHAPE = { bytesPerBlock: 1_000, descriptorsPerBlock: 64 };

function setup(handshakeUs: number, descriptorUs = 0): TransferSetup {
  return new TransferSetup({ handshakeUs, descriptorUs }, SHAPE);
}

describe('the first contact of two engines', () => {
  it('takes a handshake, and every read from there waits for it', () => {
    const target = setup(2_000_000);
    target.meet('p0', 100);
    expect(target.handshakeLeftUs('p0', 100)).toBe(2_000_000);
    expect(target.handshakeLeftUs('p0', 1_500_100)).toBe(500_000);
    expect(target.handshakeLeftUs('p0', 2_000_100)).toBe(0);
  });

  it('happens once per engine, and again after a restart of either', () => {
    const target = setup(1_000);
    target.meet('p0', 0);
    expect(target.handshakeLeftUs('p1', 5_000)).toBe(1_000);
    expect(target.handshakeLeftUs('p0', 5_000)).toBe(0);
    target.reset();
    expect(target.handshakeLeftUs('p0', 9_000)).toBe(1_000);
  });

  it('is dropped for the engine met first when there are too many', () => {
    const target = setup(10);
    for (let i = 0; i <= 4_096; i++) target.meet(`p${i}`, i);
    expect(target.handshakeLeftUs('p1', 1_000_000)).toBe(0);
    expect(target.handshakeLeftUs('p0', 1_000_000)).toBe(10);
  });

  it('costs nothing when a handshake takes no time', () => {
    const target = setup(0);
    target.meet('p0', 0);
    expect(target.handshakeLeftUs('p0', 0)).toBe(0);
  });
});

describe('posting a read', () => {
  it('takes the time of a descriptor per part of each block', () => {
    const target = setup(0, 2.5);
    expect(target.postingUs(2)).toBe(2 * 64 * 2.5);
    expect(target.postingUs(0)).toBe(0);
  });
});
