// An idle server: how late its answers are is how late this machine is.
import { createServer } from 'node:http';

const server = createServer((_request, answer) => answer.end('here'));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.once('disconnect', () => process.exit(0));
