import { z } from 'zod';
import { shownText } from '../shown-text.ts';
import { type Command, mustBeNone } from './command.ts';
import { jsonText } from './folder-command.ts';
import {
  createServiceClient,
  parseJson,
  type ServiceClient,
  TOKEN_NOTE,
  URL_FLAG,
} from './service-client.ts';

/** `weir doctor`. */
export const DOCTOR: Command = {
  usage: ['[--json] [--url URL]'],
  about: `
Says why logs do not appear. For each token and each path of a receiver it shows the number of posts
since the service started, the answer to the last post, the last stored event, and what is wrong.`,
  flags: { json: { text: 'write everything as JSON' }, url: URL_FLAG },
  notes: [`${TOKEN_NOTE} It needs the scope manage.`],
  run: async (words, world) => {
    mustBeNone('doctor', words.positionals);
    const client = createServiceClient(words, world);
    const parsed = ANSWER.safeParse(parseJson(await client.ask('/api/posts', { method: 'GET' })));
    if (!parsed.success) throw client.stranger();
    const { result, findings } = parsed.data;
    if (words.has('json')) {
      world.out(`${jsonText(parsed.data)}\n`);
      return 0;
    }
    const blocks = await Promise.all(result.map((report) => describe(report, client)));
    const all = [...findings.map(({ message }) => shownText(message)), ...blocks];
    world.out(`${all.join('\n\n')}\n`);
    return 0;
  },
};

const FINDINGS = z.array(z.object({ code: z.string(), message: z.string() }));

const REPORT = z.object({
  token: z.object({ id: z.string(), name: z.string() }).nullable(),
  receiver: z.string(),
  posts: z.number(),
  refused_posts: z.number(),
  stored_events: z.number(),
  last: z
    .object({
      at: z.string(),
      status: z.number(),
      code: z.string(),
      message: z.string().optional(),
      from: z.string().optional(),
    })
    .optional(),
  last_event: z
    .object({
      source: z.string(),
      project: z.string().optional(),
      id: z.string(),
      timestamp: z.number(),
      stored_at: z.string(),
    })
    .optional(),
  findings: FINDINGS,
});

type Report = z.infer<typeof REPORT>;

/** Of `GET /api/posts`. */
const ANSWER = z.object({ since: z.string(), findings: FINDINGS, result: z.array(REPORT) });

const EVENTS = z.object({ result: z.array(z.looseObject({})) });

async function describe(report: Report, client: ServiceClient): Promise<string> {
  const { token, receiver, posts, refused_posts, stored_events, last, findings } = report;
  const sender = token === null ? 'No valid token' : `Token ${token.name}`;
  const lines = [
    `${sender} at ${receiver}`,
    `  posts        ${posts}, of them refused ${refused_posts}; events stored ${stored_events}`,
  ];
  if (last !== undefined) {
    const { at, status, code, from = 'an unknown address' } = last;
    lines.push(`  last post    ${at} from ${from}: ${status} ${code}`);
  }
  lines.push(...(await describeEvent(report.last_event, client)));
  for (const { message } of findings) lines.push(`  problem      ${message}`);
  if (findings.length === 0) lines.push('  no problem found');
  return lines.map(shownText).join('\n');
}

async function describeEvent(
  event: Report['last_event'],
  client: ServiceClient,
): Promise<readonly string[]> {
  if (event === undefined) return [];
  const { source, project, timestamp } = event;
  const of = project === undefined ? 'no project' : `project ${project}`;
  const at = new Date(timestamp / 1e3).toISOString();
  const found = await findEvent(event, client);
  const stored = found === undefined ? 'no longer stored' : JSON.stringify(found);
  return [`  last event   source ${source}, ${of}, timestamp ${at}`, `               ${stored}`];
}

/** The event as a query finds it; `undefined` if it is no longer stored. */
async function findEvent(
  { source, id, timestamp }: NonNullable<Report['last_event']>,
  client: ServiceClient,
): Promise<unknown> {
  const sql = `SELECT id, timestamp, event_message, project, metadata FROM \`${source}\`
WHERE timestamp = TIMESTAMP_MICROS(@timestamp) AND STARTS_WITH(id, @id) LIMIT 1`;
  const answer = await client.ask('/api/query', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ sql, parameters: { id, timestamp } }),
  });
  const parsed = EVENTS.safeParse(parseJson(answer));
  if (!parsed.success) throw client.stranger();
  return parsed.data.result[0];
}
