/** Markup, code, colours of terminals, and characters that turn the direction of text. */
const TEXTS = [
  '<img src=x onerror="alert(1)"><script>alert(2)</script>',
  '\u001b[31mred\u001b[0m and \u001b]0;title\u0007',
  '\u202eright to left\u202c\u2066\u200b',
  'javascript:alert(3)',
  '`"\\',
  '\n\n\n',
  '__proto__',
];

const LONG_LENGTH = 1_000_000;
const KEY_COUNT = 10_000;
const DEPTH = 60;

/** How often an event is long, has many keys, or is deep. */
const LONG_EVERY = 500;
const WIDE_EVERY = 1_000;
const DEEP_EVERY = 100;

/** So many events, newest first, as one writes them who wants to harm whoever looks at them. */
export function* hostileEvents(count: number, nowUs: number): Generator<string> {
  for (let index = 0; index < count; index++) {
    const text = TEXTS[index % TEXTS.length]!;
    const isLong = index % LONG_EVERY === 1;
    yield JSON.stringify({
      id: `hostile-${index}`,
      event_message: isLong ? text.repeat(LONG_LENGTH / text.length) : `${index} ${text}`,
      timestamp: nowUs - index * 1_000_000,
      project: text,
      metadata: {
        level: text,
        ...(index % WIDE_EVERY === 2 && { wide: wideRecord(text) }),
        ...(index % DEEP_EVERY === 3 && { deep: deepRecord(text) }),
      },
    });
  }
}

function wideRecord(text: string): object {
  return Object.fromEntries(Array.from({ length: KEY_COUNT }, (_, key) => [`${text}${key}`, key]));
}

function deepRecord(text: string): object {
  let record: object = { end: text };
  for (let depth = 0; depth < DEPTH; depth++) record = { inner: record };
  return record;
}
