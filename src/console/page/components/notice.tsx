import { signal } from '@preact/signals';

const SHOWN_MS = 4_000;

const notice = signal<string | undefined>(undefined);
let timer: number | undefined;

/** Says something for some seconds, also to those who do not see it. */
export function say(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = undefined;
  }, SHOWN_MS) as unknown as number;
}

/** Copies a text, and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}`);
  } catch {
    say(
      'The browser does not let this page copy: it allows that over HTTPS and on this machine only',
    );
  }
}

/** Where `say` speaks. */
export function Notice() {
  return (
    <div class="notice" role="status" aria-live="polite">
      {notice.value !== undefined && <p>{notice.value}</p>}
    </div>
  );
}
