import { useEffect, useState } from 'preact/hooks';
import type { EndpointInfo } from '../../api/endpoints.ts';
import { loadService } from '../../api/service.ts';
import { Button } from '../../components/button.tsx';
import { copyText } from '../../components/notice.tsx';
import { formatCount, formatMs } from '../../components/quantity.ts';
import { Tabs } from '../../components/tabs.tsx';
import { useActions } from '../../state/actions.ts';
import { useResource } from '../../state/resource.ts';
import { changeParameters, route } from '../../state/route.ts';
import { may } from '../../state/session.ts';
import { CallAnswer } from './call-answer.tsx';
import { CallForm, givenValues, listParameters } from './call-form.tsx';
import { CALL_LANGUAGES, formatCall } from './call-text.ts';
import { DefinitionText } from './definition-text.tsx';
import { drafts, forgetUnchanged, keepDraft } from './drafts.ts';

type TabName = 'rows' | 'chart' | 'code' | 'text';

/** One saved query: its form, and below it the rows, the call for programs, and its text. */
export function EndpointDetail(props: {
  readonly endpoint: EndpointInfo;
  /** Hears that it was changed, and its name then; without a name it was deleted. */
  readonly onChange: (name?: string) => void;
}) {
  const { endpoint, onChange } = props;
  const { parameters } = route.value;
  const values = givenValues(endpoint, parameters);
  const [round, setRound] = useState(0);
  const [endedCount, setEndedCount] = useState(0);
  const { id } = endpoint;
  const draft = id === undefined ? undefined : drafts.value.get(id);
  useEffect(() => () => forgetUnchanged(id), [id]);
  const tabs = [
    { name: 'rows', title: 'Rows' },
    { name: 'chart', title: 'Chart' },
    { name: 'code', title: 'Use it in code' },
    ...(endpoint.query === undefined ? [] : [{ name: 'text', title: 'SQL' } as const]),
  ] as const;
  const chosen: TabName = tabs.find(({ name }) => name === parameters['tab'])?.name ?? 'rows';
  const hasText = endpoint.query !== undefined;
  useActions(
    () =>
      hasText
        ? [
            {
              ...{ title: `Open the SQL of ${endpoint.name}`, group: 'Endpoints', keys: 'x' },
              run: () => changeParameters({ tab: 'text' }),
            },
          ]
        : [],
    [endpoint.name, hasText],
  );
  return (
    <>
      <DetailHead endpoint={endpoint} endedCount={endedCount} />
      <CallForm
        endpoint={endpoint}
        values={values}
        onCall={(given) => {
          changeParameters({ ...given, called: '1' });
          setRound(round + 1);
        }}
      />
      <Tabs
        label="Of this query"
        tabs={tabs}
        chosen={chosen}
        onChoose={(tab) => changeParameters({ tab }, 'replace')}
      >
        {(chosen === 'rows' || chosen === 'chart') && (
          <CallAnswer
            endpoint={endpoint}
            values={parameters['called'] === undefined ? undefined : values}
            round={round}
            isChart={chosen === 'chart'}
            onEnd={() => setEndedCount((before) => before + 1)}
          />
        )}
        {chosen === 'code' && <CallCode endpoint={endpoint} values={values} />}
        {chosen === 'text' && id !== undefined && (
          <DefinitionText
            endpoint={{ ...endpoint, id }}
            draft={draft}
            onDraft={(typed) => keepDraft(id, typed)}
            onChange={onChange}
          />
        )}
      </Tabs>
    </>
  );
}

/** What a saved query is, and how it is answered. */
function DetailHead(props: {
  readonly endpoint: EndpointInfo;
  /** How many calls of it have ended here. */
  readonly endedCount: number;
}) {
  const { endpoint, endedCount } = props;
  return (
    <header class="detail-head">
      <h2>{endpoint.name}</h2>
      <p class="muted">{endpoint.description}</p>
      <p class="badges">
        {endpoint.max_rows !== undefined && (
          <span class="badge">at most {endpoint.max_rows} rows</span>
        )}
        {endpoint.cache !== undefined && (
          <span class="badge">
            {endpoint.cache === 'disabled' ? 'each call runs' : `kept for ${endpoint.cache}`}
          </span>
        )}
        {may('manage') && <RecentCalls name={endpoint.name} endedCount={endedCount} />}
      </p>
    </header>
  );
}

/** How often it was called within the last hour, and how fast. */
function RecentCalls(props: { readonly name: string; readonly endedCount: number }) {
  const { name, endedCount } = props;
  const [resource] = useResource(loadService, [endedCount]);
  if (resource.state !== 'ready') return null;
  const found = resource.value.endpoints.find((one) => one.name === name);
  if (found === undefined || found.calls === 0) {
    return <span class="badge">not called within the last hour</span>;
  }
  const { calls, failed, p50_ms: half, p95_ms: most } = found;
  return (
    <>
      <span class="badge">
        {calls === 1 ? '1 call' : `${formatCount(calls)} calls`} within the last hour, p50{' '}
        {formatMs(half)}, p95 {formatMs(most)}
      </span>
      {failed > 0 && <span class="badge bad">{formatCount(failed)} failed</span>}
    </>
  );
}

function CallCode(props: {
  readonly endpoint: EndpointInfo;
  readonly values: Readonly<Record<string, string>>;
}) {
  const { endpoint, values } = props;
  const asked = listParameters(endpoint).map(({ name }) => [name, values[name] ?? ''] as const);
  const call = { origin: new URL('.', document.baseURI).href, name: endpoint.name, values: asked };
  return (
    <div class="call-code">
      <p class="muted">
        Set WEIR_TOKEN to an access token with the scope query. This page does not show tokens.
      </p>
      {CALL_LANGUAGES.map((language) => (
        <section key={language}>
          <h3>{language}</h3>
          <Text text={formatCall(language, call)} what={`the call as ${language}`} />
        </section>
      ))}
    </div>
  );
}

function Text({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div class="text-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <pre tabIndex={0}>{text}</pre>
      <Button
        kind="quiet"
        icon="copy"
        label={`Copy ${what}`}
        onClick={() => copyText(text, what)}
      />
    </div>
  );
}
