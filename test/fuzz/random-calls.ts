import type { Random } from '../../src/demo/traffic/random.ts';
import type { Parameters } from '../support/answerer.ts';
import { FUNCTION_IDS, PROJECTS } from './random-events.ts';
import { randomTime } from './random-time.ts';

export type Call = { readonly endpoint: string; readonly parameters: Parameters };

const STATS_INTERVALS = ['5min', '15min', '1hr', '1day', '7day', '2min', '', '1HR'];

const TIERS = ['FREE', 'PRO', 'PAYG', 'ENTERPRISE', 'pro', 'other', ''];

/** Expressions that mean the same in RE2 and in JavaScript. */
const EXPRESSIONS = [
  'alpha',
  'alph',
  'Alpha',
  'beta',
  'nothing',
  '.',
  '.*',
  '^https://alpha\\.',
  '^https://(alpha|beta)\\.supabase\\.co/',
  '^alpha',
  'at=[0-4]$',
  '/(rest|auth)/v[0-9]+/',
  'alph[a-z]*\\.',
  'a{2,}|bet',
  '[^a-z:/.]',
  '(?:/storage|/realtime).*\\?at=\\d',
  'supabase.co',
  'é..$',
  '\\?next=al',
];

/** One call of each endpoint, `nowUs` being its time. */
export function randomCalls(random: Random, nowUs: number): readonly Call[] {
  const project = random.pick(PROJECTS.filter((name) => name !== ''));
  return [
    {
      endpoint: 'logs.all',
      parameters: {
        project: random.pick([project, project, project, '7', 'true']),
        ...maybe(random, { project_tier: random.pick(TIERS) }),
        ...maybe(random, { iso_timestamp_start: randomBound(random, nowUs) }),
        ...maybe(random, { iso_timestamp_end: randomBound(random, nowUs) }),
      },
    },
    {
      endpoint: 'functions.invocation-stats',
      parameters: {
        project,
        ...maybe(random, { function_id: random.pick([...FUNCTION_IDS, 'unknown']) }),
        ...maybe(random, { interval: random.pick(STATS_INTERVALS) }),
      },
    },
    {
      endpoint: 'usage.api-counts',
      parameters: {
        project: random.pick(EXPRESSIONS),
        interval: random.pick(['hourly', 'daily', 'minutely']),
      },
    },
  ];
}

function maybe(random: Random, parameters: Parameters): Parameters {
  return random.below(3) === 0 ? {} : parameters;
}

/** A bound of a window, on the time of some event or near it; sometimes empty. */
function randomBound(random: Random, nowUs: number): string {
  if (random.below(5) === 0) return '';
  const us = randomTime(random, nowUs);
  const second = new Date(Math.floor(us / 1e6) * 1000).toISOString().slice(0, 19);
  return `${second}.${String(us % 1e6).padStart(6, '0')}${random.pick(['Z', '', '+00:00'])}`;
}
