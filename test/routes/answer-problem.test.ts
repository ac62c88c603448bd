import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { HEADERS_MS_MAX } from '../../src/limits.ts';
import { ask, withApp } from '../src/harness.ts';
import { ApiDocument } from '../support/api-document.ts';
import { answerProblem, findOperation } from './answer-problem.ts';
import type { RandomRequest } from './random-request.ts';

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
};

const LIST: RandomRequest = {
  method: 'GET',
  path: '/api/sources',
  query: [],
  headers: [],
  body: undefined,
  delivery: 'whole',
  version: 'HTTP/1.1',
  isValid: false,
  mayBeGone: false,
};

const ID = '11111111-2222-4333-8444-555555555555';

function failure(code: string, message = 'no'): string {
  return JSON.stringify({ error: { code, message } });
}

/** Answers to LIST that nobody should get, each with a word of what is said of it. */
const BAD: readonly (readonly [RegExp, number, string, Readonly<Record<string, string>>?])[] = [
  [/a mistake/, 500, failure('internal')],
  [/not documented/, 418, '{}'],
  [/not documented/, 422, failure('invalid_sql')],
  [/shows/, 400, failure('invalid_request', 'Error: no\n    at open (node:fs:1:2)')],
  [/shows/, 400, failure('invalid_request', 'src/service.ts:12')],
  [/shows/, 401, failure('unauthorized', 'secret-all-6f1a'), { 'www-authenticate': 'Bearer' }],
  [/WWW-Authenticate/, 401, failure('unauthorized')],
  [/when to return/, 503, failure('not_ready')],
  [/sniffed/, 200, '{"result":[]}', { 'x-content-type-options': '' }],
  [/pages/, 200, '{"result":[]}', { 'access-control-allow-origin': 'null' }],
  [/not documented in/, 200, '{"result":[]}', { 'content-type': 'text/html' }],
  [/object/, 200, '[]'],
  [/uuid/, 200, '{"result":[{"id":"a","name":"b","project":"project"}]}'],
  [/code/, 400, failure('missing_parameter')],
];

async function withDocument(work: (document: ApiDocument) => void): Promise<void> {
  await withApp({}, async (app) => {
    work(new ApiDocument((await ask(app, { path: '/api/openapi.json' })).json));
  });
}

test('the check finds undocumented answers', async () => {
  await withDocument((document) => {
    for (const [wanted, status, text, headers = {}] of BAD) {
      const all = new Map(Object.entries({ ...HEADERS, ...headers }));
      const problem = answerProblem(document, LIST, { status, headers: all, text });
      match(problem ?? 'nothing', wanted, text);
    }
  });
});

test('a documented answer is no problem, unless it refuses a correct request', async () => {
  await withDocument((document) => {
    const headers = new Map(Object.entries(HEADERS));
    const good = {
      status: 200,
      headers,
      text: `{"result":[{"id":"${ID}","name":"b","project":"project"}]}`,
    };
    equal(answerProblem(document, { ...LIST, isValid: true }, good), undefined);
    const refused = { status: 400, headers, text: failure('invalid_request') };
    equal(answerProblem(document, LIST, refused), undefined);
    match(String(answerProblem(document, { ...LIST, isValid: true }, refused)), /is refused/);
    const late = { status: 408, headers, text: failure('request_timeout') };
    match(String(answerProblem(document, { ...LIST, isValid: true }, late)), /is refused/);
    const inTime = { ...late, ms: HEADERS_MS_MAX };
    equal(answerProblem(document, { ...LIST, isValid: true }, inTime), undefined);
  });
});

test('without an operation, only refusals with a code of the table are correct', async () => {
  await withDocument((document) => {
    const nowhere = { ...LIST, path: '/nowhere' };
    const headers = new Map(Object.entries(HEADERS));
    const problemOf = (status: number, text: string) =>
      answerProblem(document, nowhere, { status, headers, text });
    equal(problemOf(404, failure('unknown_route')), undefined);
    match(String(problemOf(200, '{}')), /no operation/);
    match(String(problemOf(404, failure('no_code'))), /no code/);
    match(String(problemOf(404, '<p>')), /is JSON/);
  });
});

test('an operation is found by its literal path, then by a template', async () => {
  await withDocument((document) => {
    const pathOf = (method: string, path: string) =>
      findOperation(document, { method, path })?.path;
    equal(pathOf('HEAD', '/api/endpoints/app.stats?a=1'), '/api/endpoints/app.stats');
    equal(pathOf('GET', '/api/endpoints/other/'), '/api/endpoints/{idOrName}');
    equal(pathOf('GET', '/api/endpoints/query/name/other'), '/api/endpoints/query/name/{name}');
    equal(pathOf('GET', '/'), '/');
    equal(pathOf('GET', '/api/endpoints/a/b/c'), undefined);
    equal(pathOf('DELETE', '/api/sources'), undefined);
  });
});
