'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Request, Subscriber } = require('zeromq');
const { encodeBatch } = require('./batch.cjs');
const { Float, pack } = require('./pack.cjs');
const { KvEventPublisher } = require('./publisher.cjs');

const CONTEXT = { seconds: 1.5, rank: 0, blockSize: 2, format: 'array' };
const STORED = { kind: 'stored', hashes: [2 ** 53 - 1], parent: null, tokens: [7, 300] };

test('packs every size of value as MessagePack has it', () => {
  const cases = [
    [null, 'c0'],
    [true, 'c3'],
    [127, '7f'],
    [128, 'cc80'],
    [256, 'cd0100'],
    [65_536, 'ce00010000'],
    [2 ** 32, 'cf0000000100000000'],
    [new Float(1), 'cb3ff0000000000000'],
    ['ab', 'a26162'],
    ['x'.repeat(32), `d920${'78'.repeat(32)}`],
    [[], '90'],
    [Array(16).fill(1), `dc0010${'01'.repeat(16)}`],
    [{ a: 1 }, '81a16101'],
  ];
  for (const [value, hex] of cases) assert.equal(pack(value).toString('hex'), hex);
  assert.throws(() => pack(-1), RangeError);
});

test('encodes a batch as arrays, every field in its place', () => {
  const events = [STORED, { kind: 'removed', hashes: [5] }, { kind: 'cleared' }];
  const expected = [
    '93',
    'cb3ff8000000000000',
    '93',
    `98ab${hex('BlockStored')}91cf001fffffffffffffc09207cd012c02c0a3${hex('GPU')}c0`,
    `93ac${hex('BlockRemoved')}9105a3${hex('GPU')}`,
    `91b0${hex('AllBlocksCleared')}`,
    '00',
  ];
  assert.equal(encodeBatch(events, CONTEXT).toString('hex'), expected.join(''));
});

test('encodes a batch as maps, events by their type', () => {
  const bytes = encodeBatch([{ kind: 'cleared' }], { ...CONTEXT, format: 'map' });
  const event = `81a4${hex('type')}b0${hex('AllBlocksCleared')}`;
  const expected = `83a2${hex('ts')}cb3ff8000000000000a6${hex('events')}91${event}b2${hex('data_parallel_rank')}00`;
  assert.equal(bytes.toString('hex'), expected);
});

test('publishes in order and sends what was missed again', async () => {
  const options = { topic: 'kv@a@m', blockSize: 2, rank: 0, format: 'array' };
  const local = 'tcp://127.0.0.1:*';
  const publisher = new KvEventPublisher({ ...options, endpoint: local, replayEndpoint: local });
  await publisher.open();
  for (let i = 0; i < 3; i += 1) publisher.publish([{ kind: 'removed', hashes: [i] }]);

  const request = new Request();
  request.connect(publisher.replayAddress);
  await request.send(numberOf(1n));
  const first = await request.receive();
  assert.deepEqual([first.length, first[0].readBigUInt64BE()], [2, 1n]);
  request.close();

  const subscriber = new Subscriber();
  subscriber.connect(publisher.address);
  subscriber.subscribe('kv@');
  const next = subscriber.receive();
  let isHere = false;
  void next.then(() => (isHere = true));
  // A subscriber gets only messages that are published after it has subscribed.
  for (let i = 3; !isHere; i += 1) {
    publisher.publish([{ kind: 'removed', hashes: [i] }]);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const [topic, sequence, batch] = await next;
  assert.equal(topic.toString(), 'kv@a@m');
  const hash = Number(sequence.readBigUInt64BE());
  assert.equal(batch.toString('hex').includes(hex('BlockRemoved')), true);
  assert.equal(hash >= 3, true);
  subscriber.close();
  await publisher.close();
});

function hex(text) {
  return Buffer.from(text).toString('hex');
}

function numberOf(sequence) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(sequence);
  return bytes;
}
