import { openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ByteStore } from '@baton/analysis';
import { makeFolder } from '@baton/kernel';
import { cannotWrite } from '../claim-output';

/** A file for a log that need not be in memory. It has no name, so it ends with the process. */
export class SpillFile implements ByteStore {
  private readonly file: number;
  private end: number;

  /** @throws Failure when no file can be written in the folder */
  constructor(private readonly folder: string) {
    const path = join(folder, `baton-spill-${process.pid}`);
    try {
      makeFolder(folder);
      this.file = openSync(path, 'wx+');
      rmSync(path);
      // A full disk still accepts empty files.
      this.end = writeSync(this.file, '\n');
    } catch (error) {
      throw cannotWrite(`--spill ${folder}`, error);
    }
  }

  write(bytes: Uint8Array, place = this.end): number {
    try {
      for (let done = 0; done < bytes.length;) {
        done += writeSync(this.file, bytes, done, bytes.length - done, place + done);
      }
    } catch (error) {
      throw cannotWrite(`--spill ${this.folder}`, error);
    }
    this.end = Math.max(this.end, place + bytes.length);
    return place;
  }

  read(bytes: Uint8Array, place: number): void {
    readSync(this.file, bytes, 0, bytes.length, place);
  }
}
