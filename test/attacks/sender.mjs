// A thread that sends requests, so that the thread that measures is not late because of them.
import { connect } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { WebSocket } from 'ws';

parentPort.on('message', async (attack) => {
  const settled =
    attack.way === 'socket'
      ? await Promise.allSettled([overSocket(attack)])
      : await Promise.allSettled(Array.from({ length: attack.times }, () => send(attack)));
  const failed = ({ reason }) => ({ status: 0, text: String(reason?.cause ?? reason) });
  parentPort.postMessage(settled.flatMap((one) => one.value ?? failed(one)));
});

function send(attack) {
  return attack.way === 'request' ? request(attack) : overWire(attack);
}

async function request({ url, bytes, method, isZipped }) {
  const encoding = isZipped === true ? { 'content-encoding': 'gzip' } : {};
  const answer = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...encoding },
    ...(method === 'GET' ? {} : { body: bytes }),
  });
  const body = await answer.arrayBuffer();
  // An id stands at the start of every object.
  return { status: answer.status, text: Buffer.from(body.slice(0, 500)).toString() };
}

/** The first status that comes over a connection of its own. */
function overWire({ url, bytes, way }) {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      if (text === '') text = chunk.toString('latin1', 0, 500);
      if (way === 'glance') socket.destroy();
    });
    // A connection that the server closes while bytes are under way ends with an error.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve({ status: Number(text.split(' ')[1] ?? 0), text }));
    socket.write(bytes);
  });
}

/** One answer per message: its status is that of the error, or 200 at the end of its events. */
function overSocket({ url, bytes, times }) {
  return new Promise((resolve, reject) => {
    const answers = [];
    const socket = new WebSocket(url.replace('http', 'ws'));
    const note = (status, text) => {
      answers.push({ status, text });
      if (answers.length < times) return;
      socket.close();
      resolve(answers);
    };
    socket.on('open', () => {
      // A thread gets the bytes of a Buffer, and not its methods.
      const message = Buffer.from(bytes).toString();
      for (let i = 0; i < times; i += 1) socket.send(message);
    });
    socket.on('message', (data) => {
      const text = data.toString();
      const [, type] = /^\{"type":"([^"]+)"/.exec(text) ?? [];
      // A failure under way is an `error` without a status, and `response.failed`.
      if (type === 'error') {
        const { status } = JSON.parse(text);
        if (status !== undefined) note(status, text);
      } else if (/^response\.(completed|incomplete|failed)$/.test(type)) note(200, type);
    });
    socket.on('error', reject);
    socket.on('close', () => {
      if (answers.length < times) reject(new Error(`closed after ${answers.length} answers`));
    });
  });
}
