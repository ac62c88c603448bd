import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start({ PUBLIC_ACCESS_TOKEN: 'a-public-token' });
});

after(() => service.stop());

function sources(words: readonly string[], token = TOKEN): Promise<Ended> {
  const environment = { PRIVATE_ACCESS_TOKEN: token };
  return runWeir(['sources', ...words, '--url', service.url], { environment });
}

test('sources are created and listed', async () => {
  const made = await sources(['add', 'app.logs', '--project-path', 'metadata.tenant']);
  assert.deepEqual(made, {
    status: 0,
    out: 'app.logs exists; its events name their project in the field metadata.tenant\n',
    err: '',
  });
  await service.post('app.logs', [{ event_message: 'a', metadata: { tenant: 'alpha' } }], us(NOW));
  for (const words of [[], ['list']]) {
    const { status, out, err } = await sources(words);
    assert.deepEqual([status, err], [0, '']);
    assert.match(out, /^name +project rule +events +bytes +id\n/);
    assert.match(out, /^app\.logs +metadata\.tenant +1 +\d+ +[0-9a-f-]{36}$/m);
    assert.match(out, /^postgres\.logs +project +0 +0 +/m);
  }
  const { result } = JSON.parse((await service.ask('GET', '/api/sources')).text);
  assert.deepEqual(JSON.parse((await sources(['--json'])).out), result);
});

test('a token that may not manage sees no sizes and creates no source', async () => {
  const { status, out } = await sources(['list'], 'a-public-token');
  assert.equal(status, 0);
  assert.match(out, /^name +project rule +id\n/);
  const refused = await sources(['add', 'shop.logs'], 'a-public-token');
  assert.deepEqual([refused.status, refused.out], [1, '']);
});

test('arguments that make no source are usage errors', async () => {
  await sources(['add', 'shop.logs']);
  const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['frob'], 2, /^sources must be followed by list or add; got "frob"/],
    [['lst'], 2, /did you mean list\?/],
    [['add'], 2, /^sources add must be followed by the name of one source; got nothing/],
    [['add', 'a', 'b'], 2, /got "a", "b"/],
    [
      ['add', 'shop.logs:metadata.tenant'],
      2,
      /has no colon; got "shop\.logs:metadata\.tenant"; write weir sources add shop\.logs --project-path metadata\.tenant\n/,
    ],
    [['add', 'a b'], 2, /a source name must be letters/],
    [['add', 'a', '--project-path', 'tenant'], 2, /"project" or a path such as/],
    [['add', 'a', '--projectpath', 'tenant'], 2, /did you mean --project-path\?/],
    [['add', 'a', 'project-path=tenant'], 2, /did you mean --project-path=VALUE\?/],
    [['list', '--project-path', 'project'], 2, /--project-path is for add/],
    [['add', 'shop.logs', '--project-path', 'metadata.shop'], 1, /has the project rule project/],
  ];
  for (const [words, expected, message] of wrong) {
    const { status, out, err } = await sources(words);
    assert.deepEqual([status, out], [expected, ''], words.join(' '));
    assert.match(err, message);
  }
});

test('in the profile supabase, sources are listed the same', async () => {
  const other = await ServiceUnderTest.start({ PROFILE: 'supabase' });
  try {
    const words = ['sources', '--json', '--url', other.url];
    const { out } = await runWeir(words, { environment: { PRIVATE_ACCESS_TOKEN: TOKEN } });
    const [first] = JSON.parse(out);
    assert.deepEqual([first.name, first.project], ['cloudflare.logs.prod', 'project']);
    assert.match(first.id, /^[0-9a-f-]{36}$/);
  } finally {
    await other.stop();
  }
});
