import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { CommandWords } from '../../../src/command/command.ts';
import { urlOption } from '../../../src/command/service-client.ts';
import { runWeir } from '../../support/command-under-test.ts';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';

function read(url: string): string | undefined {
  const given = { positionals: [], values: new Map([['url', url]]), switches: new Set<string>() };
  return urlOption(new CommandWords(given));
}

test('an address is an HTTP URL with or without http://', () => {
  for (const [given, url] of [
    ['localhost:4000', 'http://localhost:4000'],
    ['logs.example.com', 'http://logs.example.com'],
    [' 127.0.0.1:4000/ ', 'http://127.0.0.1:4000/'],
    ['[::1]:4000', 'http://[::1]:4000'],
    ['host/below', 'http://host/below'],
    ['http://localhost:4000', 'http://localhost:4000'],
    ['HTTPS://logs.example.com', 'HTTPS://logs.example.com'],
  ] as const) {
    equal(read(given), url);
  }
});

test('a text that is no address is refused in one sentence', () => {
  for (const given of [
    ...['', '4000', ':4000', '-x', '/api', 'localhost:port', 'localhost:65536', 'http://'],
    ...['http:/localhost', 'https:localhost', 'ftp://localhost', 'file:///data', 'a b', '[::1'],
    ...['user:password@localhost', 'localhost:4000?a=b', 'http://localhost/#a'],
  ]) {
    try {
      read(given);
    } catch (error) {
      const sentence =
        /^--url must be the address of a service, such as localhost:4000 or https:\/\/logs\.example\.com; got "/;
      match((error as Error).message, sentence);
      continue;
    }
    throw new Error(`${given} is taken for an address`);
  }
});

test('an address with a path of the service is refused in a sentence that names the whole address', async () => {
  const service = await ServiceUnderTest.start();
  try {
    const environment = { PRIVATE_ACCESS_TOKEN: TOKEN };
    const url = `${service.url}/api`;
    const { status, err } = await runWeir(['sources', '--url', url], { environment });
    equal(status, 1);
    equal(
      err,
      `there is nothing at ${url}/api/sources: --url must be the address of a service of this version\n`,
    );
  } finally {
    await service.stop();
  }
});

test('every command that asks a service accepts an address without http://', async () => {
  const service = await ServiceUnderTest.start();
  try {
    const url = service.url.replace('http://', '');
    for (const words of [
      ['query', 'logs.all', 'project=alpha', 'project_tier=PRO'],
      ['explain', 'logs.all', 'project=alpha', 'project_tier=PRO'],
      ['endpoints', 'list'],
      ['token', 'list'],
    ]) {
      const environment = { PRIVATE_ACCESS_TOKEN: TOKEN };
      const { status, err } = await runWeir([...words, '--url', url], { environment });
      equal(status, 0, `${words.join(' ')}: ${err}`);
    }
  } finally {
    await service.stop();
  }
});
