export class TransportUnavailable extends Error {
  constructor(what: string) {
    super(`The message broker is not reachable (${what}).`);
    this.name = 'TransportUnavailable';
  }
}

/** The broker's memory limit is reached; the request was not stored. */
export class TransportOutOfMemory extends Error {
  constructor() {
    super('The message broker is out of memory.');
    this.name = 'TransportOutOfMemory';
  }
}
