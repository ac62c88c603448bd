export const CALL_LANGUAGES = ['curl', 'JavaScript', 'Python'] as const;

export type CallLanguage = (typeof CALL_LANGUAGES)[number];

/** A call to write down. */
export type WrittenCall = {
  /** The address of the service, with a slash at its end. */
  readonly origin: string;
  readonly name: string;
  readonly values: readonly (readonly [name: string, value: string])[];
};

/** The path of a call, without a leading slash. Values that are empty are left out. */
export function callPath(name: string, values: WrittenCall['values']): string {
  const given = values.filter(([, value]) => value !== '').map(([key, value]) => [key, value]);
  const query = new URLSearchParams(given).toString();
  const path = `api/endpoints/${encodeURIComponent(name)}`;
  return query === '' ? path : `${path}?${query}`;
}

/** A call as a program or a shell makes it. The token is a variable of the environment. */
export function formatCall(language: CallLanguage, { origin, name, values }: WrittenCall): string {
  const url = origin + callPath(name, values);
  if (language === 'curl') {
    return `curl -H "X-API-KEY: $WEIR_TOKEN" \\\n  ${shellQuote(url)}`;
  }
  if (language === 'JavaScript') {
    return [
      `const response = await fetch(${JSON.stringify(url)}, {`,
      "  headers: { 'X-API-KEY': process.env.WEIR_TOKEN },",
      '});',
      'const { result } = await response.json();',
    ].join('\n');
  }
  return [
    'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(url)},`,
    '    headers={"X-API-KEY": os.environ["WEIR_TOKEN"]},',
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    result = json.load(response)["result"]',
  ].join('\n');
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
