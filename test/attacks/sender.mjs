// A thread that sends requests, so that they do not delay the measuring thread.
import { parentPort } from 'node:worker_threads';
import { WebSocket } from 'ws';

parentPort.on('message', async ({ url, bytes, times, method, isSocket }) => {
  const settled = isSocket
    ? await Promise.allSettled([overSocket(url, bytes, times)])
    : await Promise.allSettled(Array.from({ length: times }, () => send(url, bytes, method)));
  const failed = ({ reason }) => ({ status: 0, text: String(reason?.cause ?? reason) });
  parentPort.postMessage(settled.flatMap((one) => one.value ?? failed(one)));
});

async function send(url, bytes, method) {
  const answer = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: bytes }),
  });
  const body = await answer.arrayBuffer();
  // An id stands at the start of every object.
  return { status: answer.status, text: Buffer.from(body.slice(0, 500)).toString() };
}

/** One answer per message. Its status is that of the error, or 200 at the end of its events. */
function overSocket(url, bytes, times) {
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
      for (let i = 0; i < times; i += 1) socket.send(bytes.toString());
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
