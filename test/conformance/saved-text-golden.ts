import { showProgress } from '../../src/command/progress.ts';
import { googleTable } from './data-tables.ts';
import { goldenLine, goldenOf } from './golden-file.ts';
import type { GoogleSql } from './google-sql.ts';
import type { GoogleInput } from './google-value.ts';
import { type DefinitionName, definitionText, savedDataSets } from './saved-text.ts';

/** The answers of Google's engine to the built-in definitions over random rows, as golden lines. */
export async function recordSavedTexts(google: GoogleSql): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { nowUs, tables, calls } of savedDataSets()) {
    const googleTables = tables.map(googleTable);
    for (const { key, definition, parameters } of calls) {
      showProgress(key);
      const given = parameters.map(
        ({ name, type, value }) => [name, { type, value: value as GoogleInput }] as const,
      );
      const answer = await google.evaluate(googleText(definition), {
        tables: googleTables,
        parameters: {
          ...Object.fromEntries(given),
          now: { type: { kind: 'TIMESTAMP' }, value: nowUs },
        },
      });
      if (answer.error !== undefined) throw new Error(`${key}: ${answer.error.message}`);
      lines.push(goldenLine(goldenOf(key, answer)));
    }
  }
  return lines;
}

/**
 * The text of a definition as Google's engine can run it: the clock is a parameter, the list of
 * buckets is written out by the rule it follows, and quantiles are picked from the sorted values by
 * nearest rank. The metadata of log entries is left out, for a table of fixed columns gives every
 * field that could be there, and not only those that were sent; so is a key that no event here has.
 */
function googleText(name: DefinitionName): string {
  return definitionText(name)
    .replace(/CURRENT_TIMESTAMP\(\)/g, '@now')
    .replace(
      /generate_timestamp_trunc_array\((\d+), '([a-z]+)_([a-z]+)'\)/g,
      'GENERATE_TIMESTAMP_ARRAY(TIMESTAMP_TRUNC(TIMESTAMP_SUB(@now, INTERVAL $1 $2), $3), ' +
        'TIMESTAMP_TRUNC(@now, $3), INTERVAL 1 $3)',
    )
    .replace(/t\.identifier/g, 'CAST(NULL AS STRING) AS identifier')
    .replace(/APPROX_QUANTILES\(([\w.]+), 100\)/g, 'ARRAY_AGG($1 IGNORE NULLS ORDER BY $1)')
    .replace(
      /(\w+)\[OFFSET\((\d+)\)\]/g,
      '$1[OFFSET(GREATEST(DIV($2 * ARRAY_LENGTH($1) + 99, 100) - 1, 0))]',
    )
    .replace(
      /SELECT id, timestamp, event_message, metadata\nFROM edge_logs\nLIMIT 100/,
      'SELECT id, timestamp, event_message\nFROM edge_logs\nORDER BY timestamp DESC\nLIMIT 100',
    );
}
