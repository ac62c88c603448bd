/**
 * Ten expressions on path and query, of the kinds that callers write. RE2, PCRE-like engines and
 * POSIX ones understand them alike.
 */
export const EXPRESSIONS: readonly { readonly name: string; readonly expression: string }[] = [
  { name: 'alternation of literals', expression: '/v1/(orders|profiles|invoices)\\?' },
  { name: 'class and repetition', expression: 'id=eq\\.[0-9]+$' },
  { name: 'two literals apart', expression: '/rest/v1/.*order=created_at' },
  { name: 'counted repetition', expression: 'user_id=eq\\.[0-9a-f]{8}-[0-9a-f]{4}-4' },
  { name: 'anchored at the end', expression: '\\.(png|webp)$' },
  { name: 'without regard to case', expression: '(?i)/STORAGE/v1/(object|render)/' },
  { name: 'optional part', expression: 'grant_type=(refresh_)?token|vsn=1\\.0\\.0' },
  { name: 'negated class', expression: 'redirect_to=[^&]*supabase' },
  { name: 'no literal', expression: '[0-9]{5,}[a-f]+[0-9]' },
  {
    name: 'whole URL',
    expression: '^https://[a-z]+\\.supabase\\.co/(rest|auth)/v1/[a-z_]+(\\?|$)',
  },
];
