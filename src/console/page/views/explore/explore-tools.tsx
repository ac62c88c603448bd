import type { ApiError } from '../../api/client.ts';
import type { FieldInfo, NamedSource } from '../../api/explore.ts';
import { Button } from '../../components/button.tsx';
import { Field, Select } from '../../components/field.tsx';
import { changeParameters } from '../../state/route.ts';
import { grant, may } from '../../state/session.ts';
import type { EventList } from './event-list.ts';
import { formatIso } from './event-time.ts';
import type { ExplorePlace } from './explore-place.ts';
import { TimeRange } from './time-range.tsx';

type ToolsProps = {
  readonly source: string;
  readonly sources: readonly NamedSource[];
  readonly place: ExplorePlace;
  readonly list: EventList;
  readonly fields: readonly FieldInfo[];
  readonly isFieldsShown: boolean;
  readonly timeProblem: ApiError | undefined;
  readonly onFields: () => void;
  readonly onRefresh: () => void;
  readonly onSql: () => void;
  readonly onDownload: () => void;
};

/** Which events are shown: the source, the project, the time; and how. */
export function ExploreTools(props: ToolsProps) {
  const { source, sources, place, list, fields, timeProblem } = props;
  const isList = place.around === undefined;
  const names = sources.map(({ name }) => name);
  const known = names.includes(source) ? names : [source, ...names];
  return (
    <div class="explore-tools">
      <Field label="Source" isLabelHidden>
        <Select
          value={source}
          options={known.map((name) => [name, name] as const)}
          onChange={(name) =>
            changeParameters({
              ...{ source: name, by: undefined, around: undefined },
              ...{ columns: undefined, pins: undefined },
            })
          }
        />
      </Field>
      <ProjectField project={place.project} />
      {isList && <TimeRange place={place} problem={timeProblem} />}
      {isList && (
        <Button kind="quiet" icon="minus" label="Twice the time" onClick={() => zoomOut(list)} />
      )}
      <span class="explore-gap" />
      {isList && <SeriesField by={place.by} fields={fields} />}
      <Field label="Rows" isLabelHidden>
        <Select
          value={place.rows}
          options={[
            ['plain', 'Rows: one line'],
            ['dense', 'Rows: dense'],
            ['wrapped', 'Rows: wrapped'],
          ]}
          onChange={(kind) =>
            changeParameters({ rows: kind === 'plain' ? undefined : kind }, 'replace')
          }
        />
      </Field>
      {may('query') && (
        <Button icon="play" onClick={() => changeParameters({ live: '1', around: undefined })}>
          Live
        </Button>
      )}
      <Button isPressed={props.isFieldsShown} onClick={props.onFields}>
        Fields
      </Button>
      <Button onClick={props.onSql} disabled={list.query.value === undefined}>
        SQL
      </Button>
      {isList && (
        <Button
          icon="download"
          onClick={props.onDownload}
          disabled={list.query.value === undefined}
        >
          Download
        </Button>
      )}
      <Button icon="refresh" label="Look again (r)" onClick={props.onRefresh} />
    </div>
  );
}

function ProjectField({ project }: { readonly project: string }) {
  const projects = grant.value?.projects ?? [];
  return (
    <Field label="Project" isLabelHidden>
      <input
        class="input"
        type="search"
        placeholder="All projects"
        list="known-projects"
        spellcheck={false}
        autocomplete="off"
        value={project}
        onChange={(event) => changeParameters({ project: event.currentTarget.value.trim() })}
      />
      <datalist id="known-projects">
        {projects.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </Field>
  );
}

/** Fields with so many values would be *other* for the most part. */
const VALUES_MAX = 1_000;

/** Keys of fields that are asked for most, the first ones first. */
const FIRST_KEYS: readonly string[] = ['level', 'severity', 'status_code', 'method'];

/** Chooses the field by which the bars are stacked. */
function SeriesField({
  by,
  fields,
}: {
  readonly by: string;
  readonly fields: readonly FieldInfo[];
}) {
  const rank = ({ keys }: FieldInfo): number => {
    const at = FIRST_KEYS.indexOf(keys.at(-1) ?? '');
    return at < 0 ? FIRST_KEYS.length : at;
  };
  const paths = fields
    .filter(({ distinct }) => distinct > 1 && distinct <= VALUES_MAX)
    .sort((one, other) => rank(one) - rank(other))
    .map(({ path }) => path);
  const known = by === '' || paths.includes(by) ? paths : [by, ...paths];
  return (
    <Field label="Field of the bars" isLabelHidden>
      <Select
        value={by}
        options={[['', 'Bars: all events'], ...known.map((path) => [path, `By ${path}`] as const)]}
        onChange={(path) => changeParameters({ by: path }, 'replace')}
      />
    </Field>
  );
}

/** Shows as much time again, half of it on either side. */
function zoomOut(list: EventList): void {
  const { from = null, to = null } = list.query.peek() ?? {};
  if (from === null || to === null) return;
  const moreUs = Math.ceil((to - from) / 2);
  changeParameters({ from: formatIso(from - moreUs), to: formatIso(to + moreUs) });
}
