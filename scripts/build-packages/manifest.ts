import { VERSION } from '@svc/protocol/version'
import { publishedName, type SourcePackage } from './published.ts'

interface PublishedManifest {
  bin?: Record<string, string>
  [field: string]: unknown
}

/**
 * Manifests in the repository name sources as `./src/*.ts`; the built modules are under `lib`, so programs need no
 * launcher. Packages have no version in the repository and get their shared version here. `imported` names the packages
 * that the modules of this package and of its bundled ones import.
 */
export function publishedManifest(
  source: SourcePackage,
  bundled: readonly SourcePackage[],
  imported: ReadonlySet<string>,
  optional: Readonly<Record<string, string>>,
): PublishedManifest {
  const { description, license, bin } = source.manifest
  const theirs = Object.assign({}, ...[...bundled, source].map(({ manifest }) => manifest.dependencies))
  const ours = bundled.map(({ manifest }) => manifest.name)
  return {
    ...modulesOf(source),
    name: publishedName(source),
    description,
    license,
    engines: { node: '>=20.19' },
    ...(bin && { bin: mapped(bin, (launcher) => launcher.replace(/^\.\/bin\/(.+)\.mjs$/, './lib/bin/$1.js')) }),
    dependencies: {
      ...Object.fromEntries(Object.entries<string>(theirs).filter(([name]) => !isOurs(name) && imported.has(name))),
      ...Object.fromEntries(ours.map((name) => [name, VERSION])),
    },
    bundleDependencies: ours,
    ...(Object.keys(optional).length > 0 && { optionalDependencies: optional }),
    publishConfig: { access: 'public' },
  }
}

/** The manifest of a package inside another one, which declares the dependencies of both. */
export function bundledManifest(source: SourcePackage): object {
  return { ...modulesOf(source), license: source.manifest.license }
}

function modulesOf({ manifest: { name, bin, imports, exports } }: SourcePackage) {
  return {
    name,
    version: VERSION,
    type: 'module',
    ...(!bin && { sideEffects: false }),
    imports: imports && mapped(imports, builtConditions),
    exports: { ...mapped(withoutTests(exports), built), './package.json': './package.json' },
  }
}

function isOurs(name: string): boolean {
  return name.startsWith('@svc/')
}

function withoutTests(exports: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(exports).filter(([path]) => !path.startsWith('./test/')))
}

function mapped<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}

function javaScript(source: string): string {
  return source.replace(/^\.\/src\/(.+)\.ts$/, './lib/$1.js')
}

function declarations(source: string): string {
  return javaScript(source).replace(/\.js$/, '.d.ts')
}

function built(source: string): { types: string; default: string } {
  return { types: declarations(source), default: javaScript(source) }
}

/** All conditions export the same functions; the default one declares their types. */
function builtConditions(conditions: Record<string, string>): Record<string, string> {
  return { types: declarations(conditions.default as string), ...mapped(conditions, javaScript) }
}
