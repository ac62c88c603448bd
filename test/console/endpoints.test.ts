import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { NOW, us } from '../scripts/script.ts';
import { TOKEN } from '../support/service-under-test.ts';
import { ConsoleUnderTest, checkAccessible, checkFits, LOOKS } from './console-under-test.ts';
import { missingBrowser, type Page } from './playwright.ts';

const NOW_US = us(NOW);

const QUERY = `SELECT TIMESTAMP_TRUNC(t.timestamp, MINUTE) AS minute, COUNT(*) AS n
FROM \`app.logs\` AS t WHERE t.project = @project
AND (@since IS NULL OR t.timestamp >= @since) GROUP BY minute ORDER BY minute`;

/** A definition that is a file. */
const FILE_TEXT = `-- id: 6f8f4f3a-3d1b-4f51-9a42-8a8c8d0c8f10
-- name: folder.errors
SELECT COUNT(*) AS n FROM \`app.logs\` AS t
`;

const PRINT_JS = 'console.log(JSON.stringify(result));';

/** Whether a program is there; Node always is. */
function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

suite('endpoints in the console', { skip: missingBrowser() }, () => {
  let weir: ConsoleUnderTest;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-definitions-'));
    await writeFile(join(folder, 'folder.errors.sql'), FILE_TEXT);
    weir = await ConsoleUnderTest.start({ SOURCES: 'app.logs:project', ENDPOINTS_DIR: folder });
    const events = Array.from({ length: 120 }, (_, index) => ({
      event_message: `message ${index}`,
      timestamp: NOW_US - index * 1_000_000,
      project: 'alpha',
    }));
    await weir.service.post('app.logs', events, NOW_US);
  });

  after(async () => {
    await weir.close();
    await rm(folder, { recursive: true });
  });

  afterEach(() => weir.closePages());

  const make = async (name: string): Promise<void> => {
    const parameters = [
      { name: 'project', type: 'string', required: true, enum: ['alpha', 'beta'] },
      { name: 'since', type: 'timestamp' },
    ];
    const body = JSON.stringify({ name, query: QUERY, parameters });
    const { status, text } = await weir.service.ask('POST', '/api/endpoints', body);
    assert.equal(status, 201, text);
  };

  /** What another person does at the same time. */
  const describe = async (name: string, description: string): Promise<void> => {
    const path = `/api/endpoints/${name}`;
    const headers = { 'If-Match': '*' };
    const { status, text } = await weir.service.ask(
      'PATCH',
      path,
      JSON.stringify({ description }),
      headers,
    );
    assert.equal(status, 200, text);
  };

  const queryOf = async (name: string): Promise<string> => {
    const { text } = await weir.service.ask('GET', '/api/endpoints');
    const { result } = JSON.parse(text) as {
      readonly result: readonly { readonly name: string; readonly query: string }[];
    };
    return result.find((one) => one.name === name)?.query.trim() ?? '';
  };

  const openText = async (name: string): Promise<Page> => {
    const page = await weir.open({ fragment: `#/endpoints?endpoint=${name}&tab=text` });
    await page.getByLabel(`SQL of ${name}`).waitFor();
    return page;
  };

  const typeAtEnd = async (page: Page, name: string, text: string): Promise<void> => {
    await page.getByLabel(`SQL of ${name}`).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(text);
  };

  test('one is called: lists and pickers for its parameters, rows, a chart, and how it was made', async () => {
    await make('calls.by-minute');
    const page = await weir.open({ fragment: '#/endpoints?endpoint=calls.by-minute' });
    await page.getByText('not called within the last hour').waitFor();
    await page.getByLabel('project (required)').selectOption('alpha');
    assert.equal(await page.getByLabel('since').getAttribute('type'), 'datetime-local');
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText('3 rows').waitFor();
    await page.getByText('computed now').waitFor();
    await page.getByText(/^run \d/).waitFor();
    await page.getByRole('tab', { name: 'Chart' }).click();
    await page.getByRole('img', { name: /^By time: n / }).waitFor();
    await page.getByText(/^1 call within the last hour, p50/).waitFor();
    await page.getByRole('tab', { name: 'Rows' }).click();
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText(/^[23] calls within the last hour, p50/).waitFor();
  });

  test('its call is written for a shell, JavaScript and Python, and runs there', async () => {
    await make('calls.by-program');
    const page = await weir.open({ fragment: '#/endpoints?endpoint=calls.by-program' });
    await page.getByLabel('project (required)').selectOption('alpha');
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText('3 rows').waitFor();
    await page.getByRole('tab', { name: 'Use it in code' }).click();
    const codeOf = (language: string) =>
      page.locator('.call-code section').filter({ hasText: language }).locator('pre');
    const programs = [
      ['curl', 'sh', ['-c', await codeOf('curl').innerText()]],
      [
        'node',
        process.execPath,
        ['--input-type=module', '--eval', `${await codeOf('JavaScript').innerText()}\n${PRINT_JS}`],
      ],
      [
        'python3',
        'python3',
        ['-c', `${await codeOf('Python').innerText()}\nprint(json.dumps(result))`],
      ],
    ] as const;
    for (const [needed, program, words] of programs) {
      if (!isInstalled(needed)) continue;
      const env = { ...process.env, WEIR_TOKEN: TOKEN };
      const { stdout } = await promisify(execFile)(program, words, { env });
      const answer = JSON.parse(stdout) as unknown;
      const rows = Array.isArray(answer) ? answer : (answer as { result?: unknown[] }).result;
      assert.equal(rows?.length, 3, `${needed}: ${stdout}`);
    }
  });

  test('its SQL is changed and saved', async () => {
    await make('events.changed');
    const page = await openText('events.changed');
    await typeAtEnd(page, 'events.changed', ' DESC');
    await page.getByText('Not saved yet').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved events.changed').waitFor();
    assert.match(await queryOf('events.changed'), /ORDER BY minute\s+DESC$/);
    await typeAtEnd(page, 'events.changed', ' LIMIT 7');
    await page.getByText('Not saved yet').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved. Ctrl+S').waitFor();
    assert.match(await queryOf('events.changed'), /DESC\s+LIMIT 7$/);
  });

  test('it is renamed by its header, and stays open', async () => {
    await make('events.old');
    const page = await openText('events.old');
    await page.getByLabel('SQL of events.old').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type('-- name: events.new\nSELECT 1 AS n');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved events.new').waitFor();
    await page.getByRole('heading', { name: 'events.new' }).waitFor();
    assert.deepEqual(await weir.service.call('events.new', {}, NOW_US), [{ n: 1 }]);
  });

  test('a mistake is shown at its place, and nothing is saved', async () => {
    await make('events.mistaken');
    const page = await openText('events.mistaken');
    await typeAtEnd(page, 'events.mistaken', ', nowhere');
    await page.keyboard.press('Control+s');
    await page.getByRole('alert').waitFor();
    await page.locator('.cm-lintRange-error').waitFor();
    assert.equal(await page.locator('.cm-lintRange-error').innerText(), 'nowhere');
    await checkAccessible(page);
    const rows = await weir.service.call('events.mistaken', { project: 'alpha' }, NOW_US);
    assert.equal(rows.length, 3);
  });

  /** Types over a text that somebody else changes before it is saved. */
  const meetConflict = async (name: string): Promise<Page> => {
    await make(name);
    const page = await openText(name);
    await typeAtEnd(page, name, ' DESC');
    await describe(name, 'By another person');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody changed it meanwhile').waitFor();
    return page;
  };

  const descriptionIsTheirs = async (name: string): Promise<boolean> => {
    const { text } = await weir.service.ask('GET', `/api/endpoints`);
    const { result } = JSON.parse(text) as {
      readonly result: readonly { readonly name: string; readonly description: string }[];
    };
    return result.find((one) => one.name === name)?.description === 'By another person';
  };

  test('what somebody else saved meanwhile is compared, and can be taken', async () => {
    const page = await meetConflict('events.shared');
    await page.locator('del').filter({ hasText: 'By another person' }).waitFor();
    await page.locator('ins').filter({ hasText: 'DESC' }).waitFor();
    await page.locator('.comparison > span').filter({ hasText: 'FROM `app.logs`' }).waitFor();
    await checkAccessible(page);
    await checkFits(page);
    await page.getByRole('button', { name: 'Take theirs' }).click();
    await page.locator('.comparison').waitFor({ state: 'detached' });
    await page.getByText('-- description: By another person').waitFor();
    await typeAtEnd(page, 'events.shared', ' DESC');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved events.shared').waitFor();
    assert.ok(await descriptionIsTheirs('events.shared'));
  });

  test('what somebody else saved meanwhile is overwritten by who has seen it', async () => {
    const page = await meetConflict('events.kept');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByText('Saved events.kept').waitFor();
    assert.match(await queryOf('events.kept'), /DESC$/);
    assert.ok(!(await descriptionIsTheirs('events.kept')));
    await page.getByText('Saved. Ctrl+S').waitFor();
  });

  test('what somebody else deleted meanwhile is said to be gone', async () => {
    await make('events.removed');
    const page = await openText('events.removed');
    await typeAtEnd(page, 'events.removed', ' DESC');
    const headers = { 'If-Match': '*' };
    const path = '/api/endpoints/events.removed';
    assert.ok((await weir.service.ask('DELETE', path, undefined, headers)).status < 300);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody deleted it meanwhile').waitFor();
    await page.getByRole('button', { name: 'Back to the list' }).click();
    await page.getByText('Choose a saved query').waitFor();
  });

  test('a text that was typed and not saved is kept when another endpoint or view is opened', async () => {
    await make('events.draft');
    const page = await openText('events.draft');
    await typeAtEnd(page, 'events.draft', ' LIMIT 3');
    await page.getByText('Not saved yet').waitFor();
    await page.getByRole('link', { name: /^logs\.all/ }).click();
    await page.getByRole('heading', { name: 'logs.all' }).waitFor();
    await page.getByRole('link', { name: 'Explore' }).click();
    await page.getByRole('grid', { name: 'Events', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Endpoints' }).click();
    await page.getByRole('link', { name: /^events\.draft not saved/ }).click();
    await page.getByRole('tab', { name: 'SQL' }).click();
    await page.getByText('Not saved yet').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved events.draft').waitFor();
    assert.match(await queryOf('events.draft'), /LIMIT 3$/);
    assert.equal(await page.getByText('not saved', { exact: true }).count(), 0);
  });

  test('it is deleted after a question, unless somebody else changed it', async () => {
    await make('events.gone');
    const page = await openText('events.gone');
    await describe('events.gone', 'By another person');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('Somebody changed it meanwhile').waitFor();
    await page.getByRole('button', { name: 'Take theirs' }).click();
    await page.getByText('-- description: By another person').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await checkAccessible(page);
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('Choose a saved query').waitFor();
    await page.locator('.endpoint-name').filter({ hasText: 'events.gone' }).waitFor({
      state: 'detached',
    });
    const { status } = await weir.service.ask('GET', '/api/endpoints/events.gone?project=alpha');
    assert.equal(status, 404);
  });

  test('what is built in says why it cannot be changed, and offers no change', async () => {
    const page = await openText('logs.all');
    await page.getByText('It is part of weir, and cannot be changed.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
    await page.getByLabel('SQL of logs.all').focus();
    await page.keyboard.type('zzz');
    assert.equal(await page.getByText(/zzz/).count(), 0);
  });

  test('what is a file of the folder says so, and offers no change', async () => {
    const page = await openText('folder.errors');
    await page.getByText('From the folder of definitions').waitFor();
    await page.getByText('It is a file of the folder of definitions').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
    await page.getByLabel('SQL of folder.errors').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('zzz');
    await page.keyboard.press('Control+s');
    assert.equal(await page.getByText(/zzz/).count(), 0);
    assert.equal(await readFile(join(folder, 'folder.errors.sql'), 'utf8'), FILE_TEXT);
  });

  test('a token that may only call sees no SQL and no calls of others', async () => {
    const body = JSON.stringify({ name: 'caller', scopes: ['query'] });
    const { text } = await weir.service.ask('POST', '/api/tokens', body);
    const { token } = JSON.parse(text).result;
    const page = await weir.open({ fragment: '#/endpoints?endpoint=logs.all', token });
    await page.getByRole('heading', { name: 'logs.all' }).waitFor();
    assert.equal(await page.getByRole('tab', { name: 'SQL' }).count(), 0);
    assert.equal(await page.getByText(/within the last hour/).count(), 0);
  });

  test('keys alone lead from the token to a saved endpoint, and to its change', async () => {
    const page = await weir.open({ token: undefined });
    const { keyboard } = page;
    const tabTo = async (selector: string, text = ''): Promise<void> => {
      const isThere = () =>
        page.evaluate<boolean>(
          `document.activeElement.matches('${selector}') && document.activeElement.textContent.includes('${text}')`,
        );
      for (let count = 0; !(await isThere()); count += 1) {
        assert.ok(count < 40, `Tab does not lead to ${selector} ${text}`);
        await keyboard.press('Tab');
      }
    };
    await page.getByLabel('Access token').waitFor();
    await tabTo('input');
    await keyboard.type(TOKEN);
    await keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await keyboard.press('Control+k');
    await keyboard.type('Open Query');
    await page.getByRole('option', { name: /Open Query/ }).waitFor();
    await keyboard.press('Enter');
    await page.getByLabel('SQL', { exact: true }).waitFor();
    await keyboard.press('/');
    await keyboard.type('SELECT COUNT(*) AS n FROM UNNEST([1, 2]) AS one');
    await keyboard.press('Control+Enter');
    await page.getByRole('tab', { name: '1 row' }).waitFor();
    // The first closes what the editor offers, the second lets Tab leave it.
    await keyboard.press('Escape');
    await keyboard.press('Escape');
    await tabTo('button', 'Save as endpoint');
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Save as endpoint' }).waitFor();
    await tabTo('dialog input');
    await keyboard.type('by.keys');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'by.keys' }).waitFor();
    await keyboard.press('x');
    await page.getByLabel('SQL of by.keys').waitFor();
    await keyboard.press('x');
    await keyboard.press('Control+End');
    await keyboard.type(' WHERE one > 1');
    await keyboard.press('Control+s');
    await page.getByText('Saved by.keys').waitFor();
    assert.deepEqual(await weir.service.call('by.keys', {}, NOW_US), [{ n: 1 }]);
  });

  test('fits and can be used by everybody, at each width, dark and light', async () => {
    await make('events.seen');
    for (const { width, colorScheme } of LOOKS) {
      const fragment = '#/endpoints?endpoint=events.seen&p.project=alpha&called=1';
      const page = await weir.open({ width, colorScheme, fragment });
      await page.getByText('3 rows').waitFor();
      for (const tab of ['Rows', 'Chart', 'Use it in code', 'SQL']) {
        await page.getByRole('tab', { name: tab }).click();
        if (tab === 'SQL') await page.getByLabel('SQL of events.seen').waitFor();
        await page.locator('.loading').waitFor({ state: 'hidden' });
        await checkFits(page);
        await checkAccessible(page);
      }
      await page.close();
    }
  });
});
