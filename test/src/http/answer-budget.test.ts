import { doesNotThrow, throws } from 'node:assert/strict';
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
  budget.hold(25, 'a', first!);
  budget.hold(25, 'a', second!);
  throws(() => budget.hold(1, 'a', third!), {
    code: 'overloaded',
    status: 503,
    message:
      'answers for one token may have 50 bytes together at present; 50 are being sent, got 1 more',
  });
  budget.hold(25, 'b', third!);
  throws(() => budget.hold(1, 'b', fourth!), { code: 'overloaded' });
  for (const answer of answers.slice(0, 3)) answer.leave();
  doesNotThrow(() => budget.hold(50, 'a', fourth!));
});

test('callers that have gone hold nothing', () => {
  const budget = new AnswerBudget(10);
  const gone = new Leaving();
  gone.leave();
  for (let time = 0; time < 5; time++) budget.hold(5, 'a', gone.response);
  doesNotThrow(() => budget.hold(5, 'a', new Leaving().response));
});
