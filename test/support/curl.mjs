#!/usr/bin/env node
// curl for the pages' commands, with the few options that they use: a minimal machine has none.
import { readFileSync } from 'node:fs';

const headers = [];
let [url, body, showsHead] = ['', undefined, false];
const words = process.argv.slice(2);
for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (word === '-H') headers.push(splitHeader(words.shift()));
  else if (word === '-d') body = dataOf(words.shift());
  else if (/^-[siN]+$/.test(word)) showsHead ||= word.includes('i');
  else if (word.startsWith('http')) url = word;
  else throw new Error(`curl ${word} is not known to this program`);
}
const answer = await fetch(url, { method: body === undefined ? 'GET' : 'POST', headers, body });
if (showsHead) {
  const head = [...answer.headers].map(([name, value]) => `${name}: ${value}\r\n`);
  process.stdout.write(`HTTP/1.1 ${answer.status} ${answer.statusText}\r\n${head.join('')}\r\n`);
}
for await (const chunk of answer.body) process.stdout.write(chunk);

function splitHeader(header) {
  const colon = header.indexOf(':');
  return [header.slice(0, colon), header.slice(colon + 1).trim()];
}

function dataOf(word) {
  return word.startsWith('@') ? readFileSync(word.slice(1), 'utf8') : word;
}
