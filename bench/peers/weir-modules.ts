import { moduleUrl } from '../../test/support/program-words.ts';

/** What is used of weir's own modules. */
export type WeirModules = Pick<typeof import('../../src/store/log-backend.ts'), 'openBackend'> &
  Pick<typeof import('../../src/definition/catalogue.ts'), 'loadCatalogue'> &
  Pick<typeof import('../../src/settings.ts'), 'parseSettings'> &
  Pick<typeof import('../../src/readiness.ts'), 'Readiness'>;

/**
 * weir as it was built, or in the form of this module: tsx gives each function a property with its name when it is
 * made, which costs more than some of what is measured here.
 */
export async function weirModules(isUncompiled: boolean): Promise<WeirModules> {
  const load = async (name: string): Promise<object> => {
    const path = isUncompiled ? `../../src/${name}.ts` : `../../dist/src/${name}.js`;
    return (await import(moduleUrl(path, import.meta.url).href)) as object;
  };
  const modules = await Promise.all(
    ['store/log-backend', 'definition/catalogue', 'settings', 'readiness'].map((name) =>
      load(name),
    ),
  );
  return Object.assign({}, ...modules) as WeirModules;
}
