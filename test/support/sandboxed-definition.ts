import { readText } from './source-files.ts';

/** The id of `sandboxedDefinition`. */
const SANDBOXED_ID = '2034724d-89c8-43a9-aabc-52f7404f4b00';

/** The text of the built-in logs.all under another id and the name `logs.sandboxed`, and with a sandbox. */
export function sandboxedDefinition(): string {
  return readText('src/endpoints/logs.all.sql')
    .replace(/^-- id: .*$/m, `-- id: ${SANDBOXED_ID}`)
    .replace(/^-- name: .*$/m, '-- name: logs.sandboxed')
    .replace(/^-- alias: .*\n/m, '')
    .replace(/^-- sandbox: .*$/m, '-- sandbox: enabled');
}
