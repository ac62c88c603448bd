import { doesNotThrow, equal, throws } from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { AnswerBudget } from '../../../src/http/answer-budget.ts';

/** The part of a response that the budget uses. `leave` ends it. */
class Leaving extends EventEmitter {
  destroyed = false;

  get response(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  leave(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

test('a tenant’s answers are sent while there is room, and leave some for another tenant', () => {
  const budget = new AnswerBudget(100);
  const answers = Array.from({ length: 4 }, () => new Leaving());
  const [first, second, third, fourth] = answers.map(({ response }) => response);
  budget.holder('a', first!)(25);
  budget.holder('a', second!)(25);
  throws(() => budget.holder('a', third!)(1), {
    code: 'overloaded',
    status: 503,
    message:
      'answers for one token may have 50 bytes together at present; 50 are being sent, got 1 more',
  });
  budget.holder('b', third!)(25);
  throws(() => budget.holder('b', fourth!)(1), { code: 'overloaded' });
  for (const answer of answers.slice(0, 3)) answer.leave();
  doesNotThrow(() => budget.holder('a', fourth!)(50));
});

test('an answer that has no room without all others is too large, and not to be tried again', () => {
  const budget = new AnswerBudget(100);
  throws(() => budget.take(101, 'a'), {
    code: 'answer_too_large',
    status: 422,
    retryAfterS: undefined,
    message: 'this part of the answer may have at most 100 bytes; got 101',
  });
  budget.take(100, 'a')();
  const inParts = budget.holder('a', new Leaving().response);
  inParts(20);
  throws(() => inParts(61), { code: 'answer_too_large' });
  const release = budget.take(1, 'b');
  throws(() => inParts(60), { code: 'overloaded' }, 'there is room when the other answer has left');
  release();
  doesNotThrow(() => inParts(60));
});

test('callers that have gone hold nothing', () => {
  const budget = new AnswerBudget(10);
  const gone = new Leaving();
  gone.leave();
  for (let time = 0; time < 5; time++) budget.holder('a', gone.response)(5);
  doesNotThrow(() => budget.holder('a', new Leaving().response)(5));
});

test('an answer in many pieces has one listener, and gives all of them back', () => {
  const budget = new AnswerBudget(100);
  const answer = new Leaving();
  const hold = budget.holder('a', answer.response);
  for (let piece = 0; piece < 20; piece++) hold(1);
  equal(answer.listenerCount('close'), 1);
  equal(budget.heldBytes, 20);
  answer.leave();
  equal(budget.heldBytes, 0);
});
