import { useState } from 'preact/hooks';
import type { EndpointInfo } from '../../api/endpoints.ts';
import { Button } from '../../components/button.tsx';
import { copyText } from '../../components/notice.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { changeParameters, route } from '../../state/route.ts';
import { CallAnswer } from './call-answer.tsx';
import { CallForm, givenValues, listParameters } from './call-form.tsx';
import { CALL_LANGUAGES, formatCall } from './call-text.ts';

type TabName = 'rows' | 'code' | 'text';

/** One saved query: its form, and below it the rows, the call for programs, and its text. */
export function EndpointDetail({ endpoint }: { readonly endpoint: EndpointInfo }) {
  const { parameters } = route.value;
  const values = givenValues(endpoint, parameters);
  const [round, setRound] = useState(0);
  const tabs = [
    { name: 'rows', title: 'Rows' },
    { name: 'code', title: 'Use it in code' },
    ...(endpoint.query === undefined ? [] : [{ name: 'text', title: 'SQL' } as const]),
  ] as const;
  const chosen: TabName = tabs.find(({ name }) => name === parameters['tab'])?.name ?? 'rows';
  return (
    <>
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
        </p>
      </header>
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
        {chosen === 'rows' && (
          <CallAnswer
            endpoint={endpoint}
            values={parameters['called'] === undefined ? undefined : values}
            round={round}
          />
        )}
        {chosen === 'code' && <CallCode endpoint={endpoint} values={values} />}
        {chosen === 'text' && <Text text={endpoint.query ?? ''} what="the SQL" />}
      </Tabs>
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
        WEIR_TOKEN stands for an access token with the scope query: this page shows none.
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
