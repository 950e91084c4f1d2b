import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { Detokenizer } from '../text/detokenizer.mjs';
import { StopStrings } from '../text/stop-strings.mjs';

/** Tokens are bytes. */
const bytesOf = (tokens) => Buffer.from(tokens).toString('utf8');

test('a character of several tokens is told when it is whole', () => {
  const pieces = new Detokenizer(bytesOf);
  const told = [...Buffer.from('aé\u{1F600}b')].map((token) => pieces.push(token));
  assert.deepEqual(told, ['a', '', 'é', '', '', '', '\u{1F600}', 'b']);
  assert.equal(pieces.flush(), '');
});

test('a character that is never completed is told broken, after a while or at the end', () => {
  const pieces = new Detokenizer(bytesOf);
  assert.equal(pieces.push(0xf0), '');
  assert.equal(pieces.flush(), '\ufffd');
  const told = Array.from({ length: 9 }, () => pieces.push(0x80));
  assert.equal(told.filter((text) => text !== '').length, 1);
});

test('a text ends before the first stop string, however it is cut into pieces', () => {
  const text = 'one two STOP three END';
  for (let size = 1; size <= text.length; size += 1) {
    const stops = new StopStrings(['END', 'STOP', 'STOPS']);
    let told = '';
    let met;
    for (let at = 0; at < text.length && met === undefined; at += size) {
      const { text: more, stop } = stops.push(text.slice(at, at + size));
      told += more;
      met = stop;
    }
    assert.deepEqual([told, met], ['one two ', 'STOP'], `pieces of ${size}`);
  }
});

test('what could have begun a stop string is told at the end', () => {
  const stops = new StopStrings(['<end>']);
  assert.deepEqual(stops.push('a<en'), { text: 'a', stop: undefined });
  assert.equal(stops.flush(), '<en');
});

test('without stop strings everything is told at once', () => {
  assert.deepEqual(new StopStrings([]).push('any'), { text: 'any', stop: undefined });
});
