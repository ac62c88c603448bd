import { unreachable } from '../../engine/columns.ts';
import { count } from '../../engine/index.ts';
import type { FolderDamage } from '../../ingest/folder-damage.ts';
import { byteText } from '../byte-text.ts';

/** Describes a damage and its consequences in one line. */
export function damageText(damage: FolderDamage): string {
  return `${damage.path}: ${formatSentence(damage)}`;
}

function formatSentence(damage: FolderDamage): string {
  switch (damage.kind) {
    case 'envelope':
      return `the envelope at its ${damage.copy} cannot be read, but the other can: nothing is lost`;
    case 'columns': {
      const { columns, rowCount, source } = damage;
      const values =
        columns.length === 1 ? 'values of one column' : `values of ${columns.length} columns`;
      return `the ${values} are lost, and NULL in ${events(rowCount)} of ${source}: ${columns.join(', ')}`;
    }
    case 'rows':
      return `the structure of its rows cannot be read: ${events(damage.rowCount)} of ${damage.source} are lost`;
    case 'segment':
      return `${damage.reason}: its events of ${damage.source} are lost, unless the log still has them or files it was made of are there`;
    case 'missing':
      return `it was removed: its events of ${damage.source} are lost, unless the log still has them`;
    case 'manifest':
      return 'it cannot be read, so whether segment files are missing is not known';
    case 'small_file':
      return damage.isLost
        ? 'it does not match its checksum, and there is no intact copy: its contents are lost'
        : 'it does not match its checksum or is missing; the other of the two files is intact: nothing is lost';
    case 'log':
      return logSentence(damage);
    default:
      return unreachable(damage);
  }
}

function logSentence(damage: Extract<FolderDamage, { kind: 'log' }>): string {
  const { offset, size, reason, recordsLost, firstSequence } = damage;
  const place = `${count(size)} bytes at byte ${count(offset)}`;
  const last = firstSequence + recordsLost - 1;
  const lost =
    recordsLost === 1
      ? `record ${count(firstSequence)} is lost, unless segment files have it`
      : `records ${count(firstSequence)} to ${count(last)} are lost, unless segment files have them`;
  const cost = recordsLost === 0 ? 'no record is lost' : lost;
  switch (reason) {
    case 'file_header':
      return 'its header cannot be read; its records say the same: nothing is lost';
    case 'record':
      return `${place} cannot be read: ${cost}`;
    case 'not_applicable':
      return `${place} have a valid checksum but are not a valid record: ${cost}`;
    case 'log_end':
      return 'it cannot be read, so whether the last records of the log are missing is not known';
    case 'missing':
      return `records are missing at byte ${count(offset)}: ${cost}`;
    default:
      return unreachable(reason);
  }
}

export function events(eventCount: number): string {
  return `${count(eventCount)} ${eventCount === 1 ? 'event' : 'events'}`;
}

/** Describes the end of a log that is not a complete record. */
export function tailText(tailSize: number): string {
  return `${byteText(tailSize)} at the end of the log are being written, or were cut off by a crash: not acknowledged, no damage`;
}
