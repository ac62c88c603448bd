/** What the system's codes for a failure mean. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission is denied'],
  ['EBUSY', 'it is in use'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EEXIST', 'there is one already'],
  ['EFBIG', 'the file would be too large'],
  ['EINVAL', 'the system does not support this'],
  ['EIO', 'the disk reports an error'],
  ['EISDIR', 'it is a folder'],
  ['ELOOP', 'its links lead in a circle'],
  ['EMFILE', 'the process has too many files open'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['ENFILE', 'the system has too many files open'],
  ['ENODEV', 'the device is gone'],
  ['ENOENT', 'there is no such file or folder'],
  ['ENOSPC', 'the disk is full'],
  ['ENOTDIR', 'it, or a part of its path, is not a folder'],
  ['ENOTEMPTY', 'it is not empty'],
  ['ENXIO', 'the device is gone'],
  ['EPERM', 'permission is denied'],
  ['EROFS', 'the file system is read-only'],
  ['ESTALE', 'the file system has lost it'],
  ['ETXTBSY', 'it is in use'],
  ['EADDRINUSE', 'another program uses the address'],
  ['EAI_AGAIN', 'the name of the host cannot be looked up at present'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['ECONNRESET', 'the connection was broken off'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the network cannot be reached'],
  ['ENOTFOUND', 'there is no host of this name'],
  ['EPIPE', 'the connection was broken off'],
  ['ETIMEDOUT', 'nothing answers'],
  [
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'what listens there does not speak TLS; write http:// in place of https://',
  ],
  ['UND_ERR_CONNECT_TIMEOUT', 'nothing answers'],
  ['UND_ERR_SOCKET', 'the connection was broken off'],
]);

/** Why a call of the system failed, in words. What is not known here has its code, or its own message. */
export function systemReason(error: unknown): string {
  const code = systemCode(error) ?? '';
  const reason = REASONS.get(code);
  if (reason !== undefined) return reason;
  if (/^E[A-Z0-9]+$/.test(code)) return `the system reports ${code}`;
  return error instanceof Error ? error.message : String(error);
}

/** `ENOENT` and the like; `undefined` for an error that is not of the system. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
