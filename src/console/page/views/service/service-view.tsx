import { useEffect } from 'preact/hooks';
import { loadService, type ServiceInfo } from '../../api/service.ts';
import { formatBytes, formatCount, formatTime } from '../../components/quantity.ts';
import { Loaded } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useResource } from '../../state/resource.ts';
import { changeParameters, route } from '../../state/route.ts';
import { PostReportList } from './post-report-list.tsx';
import { ServiceCharts } from './service-charts.tsx';
import { EndpointTable, SourceTable } from './service-tables.tsx';
import { TokenList } from './token-list.tsx';

/** The service adds a point to its history this often. */
const RELOAD_MS = 10_000;

const TABS = [
  { name: 'overview', title: 'Overview' },
  { name: 'posts', title: 'Why don’t I see my logs?' },
  { name: 'tokens', title: 'Tokens' },
] as const;

/** How the service is, what became of posts, and its tokens. */
export function ServiceView() {
  const { tab = 'overview' } = route.value.parameters;
  const chosen = TABS.find(({ name }) => name === tab)?.name ?? 'overview';
  return (
    <div class="service">
      <Tabs
        label="Service"
        tabs={TABS}
        chosen={chosen}
        onChoose={(name) => changeParameters({ tab: name })}
      >
        {chosen === 'overview' && <Overview />}
        {chosen === 'posts' && <PostReportList />}
        {chosen === 'tokens' && <TokenList />}
      </Tabs>
    </div>
  );
}

function Overview() {
  const [resource, reload] = useResource(loadService, []);
  useEffect(() => {
    const timer = setInterval(reload, RELOAD_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <Loaded resource={resource} what="Asking the service" onRetry={reload}>
      {(info) => (
        <>
          <Reasons info={info} />
          <Facts info={info} />
          <ServiceCharts history={info.history} />
          <SourceTable sources={info.sources} />
          <EndpointTable endpoints={info.endpoints} />
        </>
      )}
    </Loaded>
  );
}

function Reasons({ info }: { readonly info: ServiceInfo }) {
  if (info.status === 'ok') return null;
  return (
    <ul class="findings" aria-label="What is wrong">
      {info.reasons.map(({ code, message }) => (
        <li key={code} class="finding">
          <span class="badge warn">{code}</span> {message}
        </li>
      ))}
    </ul>
  );
}

function Facts({ info }: { readonly info: ServiceInfo }) {
  const { memory } = info;
  const limit = memory.limit_bytes === null ? '' : ` of ${formatBytes(memory.limit_bytes)}`;
  const facts: readonly (readonly [string, string])[] = [
    ['Status', info.status],
    ['Version', info.version],
    ['Running since', `${formatTime(info.started_at)} UTC`],
    ['Memory', `${formatBytes(memory.resident_bytes)}${limit}`],
    ['Events', formatCount(info.sources.reduce((sum, { events }) => sum + events, 0))],
    ['Log on disk', formatBytes(info.log_bytes)],
    ['Live tails', String(info.followers)],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
