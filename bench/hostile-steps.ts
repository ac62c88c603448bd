import { request } from 'node:http';
import { barText } from './measure.ts';
import { MeteredService } from './metered-service.ts';
import { NOW } from './workload/clock.ts';
import { HOSTILE_POSTS, type HostilePost, requestOf } from './workload/hostile-posts.ts';

/** A call that comes meanwhile waits no longer. */
const STEP_MS_MAX = 50;

/** Of posts with the longest steps. */
const TOLD_COUNT = 10;

type Attack = { readonly name: string; readonly statuses: string; readonly stepMs: number };

/** Each so manieth hostile post, with bodies of `size` bytes: how long does it hold the main thread, at most? */
export async function measurePosts(
  command: readonly string[],
  { every, bodySize }: { readonly every: number; readonly bodySize: number },
): Promise<void> {
  const posts = HOSTILE_POSTS.filter((_, index) => index % every === 0);
  const metered = await MeteredService.start(command, { FROZEN_NOW: NOW, CACHE_LIMIT: '0' });
  try {
    const attacks: Attack[] = [];
    for (const post of posts) attacks.push(await attack(metered, post, bodySize));
    const slowest = attacks.sort((left, right) => right.stepMs - left.stepMs);
    for (const { name, statuses, stepMs } of slowest.slice(0, TOLD_COUNT)) {
      console.log(`${name}: ${statuses}, longest step ${stepMs.toFixed(1)} ms`);
    }
    const slowCount = attacks.filter(({ stepMs }) => stepMs > STEP_MS_MAX).length;
    const failedCount = attacks.filter(({ statuses }) => /\b5\d\d\b/.test(statuses)).length;
    console.log(
      `${posts.length} hostile posts of ${bodySize} bytes: ${failedCount} failed, ${slowCount} held the main thread longer than the bar, ` +
        `at most ${(slowest[0]?.stepMs ?? 0).toFixed(1)} ms ${barText(`<= ${STEP_MS_MAX} ms`, slowCount === 0)}`,
    );
  } finally {
    await metered.stop();
  }
}

async function attack(metered: MeteredService, post: HostilePost, size: number): Promise<Attack> {
  const sent = requestOf(post, size);
  const { steps, value } = await metered.measure(() =>
    Promise.all(Array.from({ length: post.atOnce ?? 1 }, () => statusOf(metered, post.path, sent))),
  );
  const stepMs = steps.longest.find(({ isStolen }) => !isStolen)?.ms ?? 0;
  return { name: post.name, statuses: [...new Set(value)].join(', '), stepMs };
}

/** Of one post; its connection is not kept. */
function statusOf(
  { service: { url, token } }: MeteredService,
  path: string,
  { headers, body }: ReturnType<typeof requestOf>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const whole = { 'X-API-KEY': token, 'Content-Length': body.length, ...headers };
    const address = `${url}${path}?source_name=gotrue.logs.prod`;
    const post = request(address, { method: 'POST', headers: whole, agent: false }, (response) => {
      response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    post.on('error', reject).end(body);
  });
}
