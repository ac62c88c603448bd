import { LockFile } from '../../ingest/lock-file.ts';

/** A process that takes the lock at a path, prints `taken` or why not, and keeps it until it is killed. */
const [path = '', nowUs = ''] = process.argv.slice(2);
console.log(await LockFile.take(path, Number(nowUs)).then(() => 'taken', String));
setInterval(() => {}, 1000);
