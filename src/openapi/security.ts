import { DATADOG_PARAMETER, type TokenPlaces } from '../access/authenticate.ts';
import { TOKEN_PARAMETER } from '../definition/token-parameter.ts';
import type { Operation } from '../http/route.ts';

/** The ways to send a token; the first one used counts. */
export const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer' },
  header: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
  url: { type: 'apiKey', in: 'query', name: TOKEN_PARAMETER },
  password: {
    type: 'http',
    scheme: 'basic',
    description: 'The token is the password; the name is ignored',
  },
  splunk: { type: 'http', scheme: 'splunk', description: 'As senders to Splunk do' },
  datadog: { type: 'apiKey', in: 'header', name: 'DD-API-KEY' },
  datadogUrl: { type: 'apiKey', in: 'query', name: DATADOG_PARAMETER },
} as const;

const SCHEMES: Readonly<Record<TokenPlaces, readonly (keyof typeof SECURITY_SCHEMES)[]>> = {
  headers: ['bearer', 'header'],
  url: ['bearer', 'header', 'url'],
  password: ['bearer', 'header', 'url', 'password', 'splunk', 'datadog', 'datadogUrl'],
};

/** Security Requirement Objects, of which one suffices. Scopes are listed as roles. */
export function describeSecurity({ access }: Operation): readonly object[] {
  if (access === 'open') return [];
  if (access === 'optional') return [{}, ...SCHEMES.headers.map((scheme) => ({ [scheme]: [] }))];
  const roles = access.scope === 'any' ? [] : [access.scope];
  return SCHEMES[access.tokenIn].map((scheme) => ({ [scheme]: roles }));
}
