import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { VARIABLES_READ } from '../../src/setting-table.ts';
import { strayVariables } from '../../src/stray-variables.ts';

function straysOf(...names: readonly string[]): readonly string[] {
  return strayVariables(Object.fromEntries(names.map((name) => [name, 'x'])));
}

test('an unknown variable is reported with the similar name that is read', () => {
  for (const [name, meant] of [
    ['MEMORY_LIMT', 'MEMORY_LIMIT'],
    ['MEMORY_LIM', 'MEMORY_LIMIT'],
    ['DATADIR', 'DATA_DIR'],
    ['PROT', 'PORT'],
    ['port', 'PORT'],
    ['RETENTION_DAY', 'RETENTION_DAYS'],
    ['PRIVATE_ACESS_TOKEN', 'PRIVATE_ACCESS_TOKEN'],
    ['LOGFLARE_PUBLIC_ACESS_TOKEN_FILE', 'LOGFLARE_PUBLIC_ACCESS_TOKEN_FILE'],
  ] as const) {
    deepEqual(straysOf(name), [`the variable ${name} is not read; did you mean ${meant}?`]);
  }
});

test('variables that are read, and those of other programs, are not reported', () => {
  deepEqual(straysOf(...VARIABLES_READ), []);
  deepEqual(
    straysOf(
      ...[
        'PATH',
        'HOME',
        'PWD',
        'OLDPWD',
        'SHELL',
        'SHLVL',
        'TERM',
        'LANG',
        'LC_ALL',
        'TZ',
        'USER',
      ],
      ...['LOGNAME', 'MAIL', 'EDITOR', 'PAGER', 'TMPDIR', 'HOSTNAME', 'HOSTTYPE', 'MACHTYPE', '_'],
      ...['NODE_ENV', 'NODE_OPTIONS', 'NODE_VERSION', 'YARN_VERSION', 'UV_THREADPOOL_SIZE'],
      ...['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_'],
      ...['npm_config_cache', 'npm_config_prefix', 'npm_lifecycle_event', 'npm_package_name'],
      ...['PGHOST', 'PGPORT', 'PGDATA', 'DB_HOST', 'DB_PORT', 'POSTGRES_HOST', 'REDIS_PORT'],
      ...['KUBERNETES_PORT', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT', 'DOCKER_HOST'],
      ...['XDG_DATA_DIRS', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR', 'BASE_DIR'],
      ...['AWS_PROFILE', 'HTTP_PROXY', 'http_proxy', 'no_proxy', 'SSH_AUTH_SOCK', 'DBUS_SESSION'],
      ...[
        'INVOCATION_ID',
        'JOURNAL_STREAM',
        'NOTIFY_SOCKET',
        'MEMORY_PRESSURE_WATCH',
        'LISTEN_FDS',
      ],
      ...['CHOST', 'LHOST', 'RPORT', 'LOGFLARE_SINGLE_TENANT', 'PHX_HOST', 'PHX_URL_PORT'],
      ...[
        'GITHUB_TOKEN',
        'CI',
        'WEIR_FUZZ_SEED',
        'ACCESS_TOKEN',
        'CACHE_DIR',
        'LOG_DIR',
        'HOST_IP',
      ],
    ),
    [],
  );
});

test('an empty variable is not reported, and control characters in a name are escaped', () => {
  deepEqual(strayVariables({ PROT: '', HOTS: undefined }), []);
  deepEqual(straysOf('POR\u0007T'), ['the variable POR\\u0007T is not read; did you mean PORT?']);
});
