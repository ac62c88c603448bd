/** What a line of curl sends. */
export type CurlRequest = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

/** Options that say how an answer is shown, and nothing of the request. */
const SHOWING = new Set(['-s', '-i', '-si', '-N']);

/** The request of these words behind `curl`; an option that is not known here is refused. */
export function curlRequest(words: readonly string[]): CurlRequest {
  const headers: Record<string, string> = {};
  const data: string[] = [];
  let url: URL | undefined;
  let method: string | undefined;
  let isInUrl = false;
  const rest = [...words];
  const next = (option: string): string => {
    const word = rest.shift();
    if (word === undefined) throw new Error(`${option} must have a word behind it`);
    return word;
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '-X') method = next(word);
    else if (word === '-H') {
      const [, name, value] = /^([^:]+): (.*)$/.exec(next(word))!;
      headers[name!] = value!;
    } else if (word === '-G') isInUrl = true;
    else if (word === '-d') data.push(next(word));
    else if (word === '--data-urlencode') {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(next(word))!;
      data.push(`${name}=${encodeURIComponent(value!)}`);
    } else if (word.startsWith('http://') && url === undefined) url = new URL(word);
    else if (!SHOWING.has(word)) throw new Error(`curl ${word} is not known here`);
  }
  if (url === undefined) throw new Error(`there is no URL in ${words.join(' ')}`);
  if (isInUrl) url.search = data.join('&');
  const body = isInUrl || data.length === 0 ? undefined : data.join('&');
  // As curl does; the type says nothing of the body.
  if (body !== undefined) headers['Content-Type'] ??= 'application/x-www-form-urlencoded';
  return { url, method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body };
}
